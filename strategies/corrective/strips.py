"""Knowledge refinement of Corrective RAG (paper section 4.4): decompose, filter, recompose. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from arena.types import Passage
from strategies.corrective.params import Decomposition

SHORT_SENTENCES = 2
"""A passage of no more sentences is one strip."""

_SENTENCE_END = re.compile(
    r"[.!?\u2026]+[\"'\u201d\u2019)\]]*\s+(?=[\"'\u201c\u2018(\[]*[^\W_a-z])|[\u3002\uff01\uff1f]\s*"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]"
    r"|St|Mt|Dr|Mr|Mrs|Ms|Prof|Sr|Jr|Gen|Col|Capt|Lt|No|vs|cf|ca|approx)\.$",
    re.IGNORECASE,
)
_LOOK_BACK = 16  # characters, longer than any abbreviation above


@dataclass(frozen=True, slots=True)
class Strip:
    """A span of a passage: `passage.text[start:end]`, neither empty nor with white space around it."""

    passage: Passage
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]

    @property
    def as_passage(self) -> Passage:
        """The span as a passage of its own, under the id of the passage it is of."""
        base = self.passage.start_char
        return replace(self.passage, text=self.text, start_char=base + self.start, end_char=base + self.end)


def decompose(passages: Sequence[Passage], how: Decomposition, sentences: int) -> tuple[Strip, ...]:
    """The strips of all passages, passage by passage, in order; a passage of white space has none.

    By `sentences`, a passage of more than two is cut into strips of so many, the last may have fewer; else each
    passage is one strip.
    """
    return tuple(strip for passage in passages for strip in _strips(passage, how, sentences))


def strongest(strips: Sequence[Strip], scores: Sequence[float], above: float, most: int) -> tuple[Strip, ...]:
    """The `most` strips with the best scores above the threshold, in original order; of equal ones the earlier."""
    order = sorted(range(len(strips)), key=lambda place: (-scores[place], place))
    kept = [place for place in order if scores[place] > above][:most]
    return tuple(strips[place] for place in sorted(kept))


def recompose(strips: Iterable[Strip]) -> tuple[Passage, ...]:
    """One passage a document, in order of their first strips; its text is the strips in the document's order.

    `start_char` and `end_char` are those of the first and the last strip, whatever was dropped between them. A strip
    that comes twice, as from two sources, is shown once.
    """
    documents: dict[str, dict[tuple[int, int, str], Passage]] = {}
    for piece in (strip.as_passage for strip in strips):
        documents.setdefault(piece.doc_id, {})[(piece.start_char, piece.end_char, piece.text)] = piece
    return tuple(_joined([pieces[place] for place in sorted(pieces)]) for pieces in documents.values())


def _joined(pieces: Sequence[Passage]) -> Passage:
    text = " ".join(piece.text for piece in pieces)
    return replace(pieces[0], text=text, end_char=max(piece.end_char for piece in pieces))


def _strips(passage: Passage, how: Decomposition, sentences: int) -> list[Strip]:
    spans = _sentences(passage.text)
    size = len(spans) if how != "sentences" or len(spans) <= SHORT_SENTENCES else sentences
    groups = [spans[first : first + size] for first in range(0, len(spans), max(size, 1))]
    return [Strip(passage, group[0][0], group[-1][1]) for group in groups]


def _sentences(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences of `text`, without the white space between them."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text) if not _abbreviated(text, match.end())]
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
