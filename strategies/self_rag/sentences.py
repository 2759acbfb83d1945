"""A segment is a sentence: where the first one ends."""

from __future__ import annotations

import re
from itertools import pairwise

_END = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019)\]]*(?=\s+[\"'\u201c\u2018(\[]*[^\W_a-z])|[\u3002\uff01\uff1f]")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(\"'])(?:\w|(?:\w\.)+\w|St|Mt|Dr|Mr|Mrs|Ms|Prof|Sr|Jr|No|vs|cf|ca|approx|Gen|Col|Capt|Lt|Rev|Hon)\.$",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences of `text` on one line each, in order; a full stop after an initial or a title ends none."""
    text = " ".join(text.split())
    ends = [match.end() for match in _END.finditer(text) if not _ABBREVIATED.search(text[: match.end()])]
    bounds = [0, *ends, len(text)]
    pieces = (text[start:end].strip() for start, end in pairwise(bounds))
    return [piece for piece in pieces if piece]


def next_sentence(reply: str, so_far: str) -> tuple[str, bool]:
    """The first sentence of `reply` that `so_far` does not have, and whether more follow; empty when there is none.

    Small models that are asked to go on like to begin again.
    """
    known = {sentence.casefold() for sentence in sentences(so_far)}
    new = [sentence for sentence in sentences(reply) if sentence.casefold() not in known]
    return (new[0], len(new) > 1) if new else ("", False)
