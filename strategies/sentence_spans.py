"""Where the sentences of a text are, by a rule that needs no model."""

from __future__ import annotations

import re
from itertools import pairwise

_END = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)\]]*\s+(?=[\"'\u201c\u2018(\[]*[^\W_a-z])|[\u3002\uff01\uff1f]\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]"
    r"|St|Mt|Dr|Mr|Mrs|Ms|Prof|Sr|Jr|Gen|Col|Capt|Lt|Rev|Hon|No|vs|cf|ca|approx)\.$",
    re.IGNORECASE,
)
_LOOK_BACK = 16  # characters, longer than any abbreviation above


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, in order, without the white space between them.

    A full stop after an initial, a title or an abbreviation ends none.
    """
    ends = [match.end() for match in _END.finditer(text) if not _abbreviated(text, match.end())]
    bounds = [0, *(end for end in ends if end < len(text)), len(text)]
    return [trimmed for span in pairwise(bounds) if (trimmed := _trimmed(text, *span))]


def _abbreviated(text: str, end: int) -> bool:
    """Whether the stop before `end` is that of an initial or an abbreviation."""
    return bool(_ABBREVIATION.search(text[max(0, end - _LOOK_BACK) : end].rstrip()))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without white space at its ends; None when nothing is left."""
    inside = text[start:end].strip()
    if not inside:
        return None
    first = start + text[start:end].index(inside)
    return first, first + len(inside)
