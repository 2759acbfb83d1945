"""How the fake model judges: by how many words of the claim or question are in the passages.

It reads the form that judgements of this project have: a last line `Reply with one of: yes, no`, whose labels go from
the best to the worst; passages as in `arena.llm.extractive`; and what is judged on the last line of the form
`Caption: text` (`Question: ...`, `Claim: ...`). Labels of one letter each, without passages, are taken for kinds of a
question, from the simple to the complex.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from arena.llm.extractive import content_words, titled_passages

_LABELS = re.compile(r"\bReply with one of\b[^:\n]*: *(?P<labels>[^\n]+)\Z")
_CAPTIONED = re.compile(r"[A-Z][\w' -]{0,30}: *(?P<text>\S.*)")
_SHARPNESS = 2.0
_WORDS_OF_A_STEP = 3


def asked_labels(turn: str) -> tuple[str, ...]:
    """The labels that the last line of `turn` asks for; empty = it asks for none."""
    asked = _LABELS.search(turn.rstrip())
    if asked is None:
        return ()
    return tuple(label for label in (part.strip(" .") for part in asked["labels"].split(",")) if label)


def label_probabilities(labels: tuple[str, ...], turn: str) -> Mapping[str, float]:
    """Label -> probability, sum 1.

    With passages, the likeliest lies as far from the first as words are missing from them: all there, the first; none
    there, the last. Without, it is the first; of kinds (`A`, `B`, `C`) a later one for every three content words.
    """
    place = _place(labels, turn)
    weights = {label: math.exp(-_SHARPNESS * abs(number - place)) for number, label in enumerate(labels)}
    total = math.fsum(weights.values())
    return {label: weight / total for label, weight in weights.items()}


def _place(labels: tuple[str, ...], turn: str) -> float:
    shown = titled_passages(turn)
    lines = turn.rstrip().splitlines()[:-1]
    captioned = [line["text"] for line in map(_CAPTIONED.match, lines) if line]
    wanted = content_words(captioned[-1]) if captioned else set()
    last = len(labels) - 1
    if not shown and all(label.isalpha() and len(label) == 1 for label in labels):
        return min(last, max(0, len(wanted) - 1) // _WORDS_OF_A_STEP)
    if not shown or not wanted:
        return 0.0
    present = {word for title, text in shown for word in content_words(f"{title} {text}")}
    return last * (1.0 - len(wanted & present) / len(wanted))
