"""English words that say nothing of a text's content.

Not among them: negations, which change what is said, and what is also an answer (one, May, US).
"""

from __future__ import annotations

_LISTED = """
a an the this that these those such same other another each every either both all any some few many much more
most several own

i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
we our ours ourselves they them their theirs themselves who whom whose which what where when why how
whoever whatever whichever there here

am is are was were be been being have has had having do does did doing done will would shall should can could
might must ought

of in on at by to from for with about against between among into onto upon through during before after above
below under over up down out off again further within across along around behind beside besides beyond near
since until till toward towards per via

and or but if then else than because as while although though whether so yet thus hence therefore however
also too very just only even still quite rather almost already once ever well

yes no answer
"""

STOP_WORDS = frozenset(_LISTED.split())
