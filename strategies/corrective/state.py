"""What flows through the graph of Corrective RAG."""

from __future__ import annotations

import operator
from typing import Annotated

from arena.errors import AllowanceSpent, ModelCallError
from arena.types import Passage
from strategies.corrective.actions import Action
from strategies.corrective.evaluator import Mark
from strategies.corrective.strips import Strip
from strategies.state import RagState


class CorrectiveState(RagState, total=False):
    """State of one question.

    marks: the evaluator's score of each of the retrieved `passages`, in their order.
    action: what the scores call for.
    internal: what refinement left of the retrieved passages.
    found: what the external search brought.
    external: what selection left of that.
    errors: of the branches that go side by side; raised when both have ended.
    """

    marks: tuple[Mark, ...]
    action: Action
    internal: tuple[Strip, ...]
    found: tuple[Passage, ...]
    external: tuple[Strip, ...]
    errors: Annotated[tuple[ModelCallError | AllowanceSpent, ...], operator.add]
