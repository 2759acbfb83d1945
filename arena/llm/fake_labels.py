"""How the fake model judges: by how many words of the claim or question are in the passages.

It reads the form that judgements of this project have: a last line `Reply with one of: yes, no`, whose labels go from
the best to the worst; passages as in `arena.llm.extractive`; and what is judged on the last line of the form
`Caption: text` (`Question: ...`, `Claim: ...`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from arena.llm.extractive import content_words, titled_passages

_LABELS = re.compile(r"\bReply with one of\b[^:\n]*: *(?P<labels>[^\n]+)\Z")
_CAPTIONED = re.compile(r"[A-Z][\w' -]{0,30}: *(?P<text>\S.*)")
_SHARPNESS = 2.0


def asked_labels(turn: str) -> tuple[str, ...]:
    """The labels that the last line of `turn` asks for; empty = it asks for none."""
    asked = _LABELS.search(turn.rstrip())
    if asked is None:
        return ()
    return tuple(label for label in (part.strip(" .") for part in asked["labels"].split(",")) if label)


def label_probabilities(labels: tuple[str, ...], turn: str) -> Mapping[str, float]:
    """Label -> probability, sum 1. The likeliest lies as far from the first as words are missing from the passages.

    All there, or nothing to compare: the first. None there: the last.
    """
    place = (1.0 - _supported_share(turn)) * (len(labels) - 1)
    weights = {label: math.exp(-_SHARPNESS * abs(number - place)) for number, label in enumerate(labels)}
    total = math.fsum(weights.values())
    return {label: weight / total for label, weight in weights.items()}


def _supported_share(turn: str) -> float:
    shown = titled_passages(turn)
    lines = turn.rstrip().splitlines()[:-1]
    captioned = [line["text"] for line in map(_CAPTIONED.match, lines) if line]
    wanted = content_words(captioned[-1]) if captioned else set()
    if not shown or not wanted:
        return 1.0
    present = {word for title, text in shown for word in content_words(f"{title} {text}")}
    return len(wanted & present) / len(wanted)
