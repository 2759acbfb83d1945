"""Knowledge refinement of Corrective RAG (paper section 4.4): decompose, filter, recompose. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arena.types import Passage
from strategies.corrective.params import Decomposition
from strategies.parsing import passage_sentences

SHORT_SENTENCES = 2
"""A passage of no more sentences is one strip."""


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

    `start_char` and `end_char` are those of the first and the last strip, `parts` those of each: what was dropped
    between them is not shown. A strip that comes twice, as from two sources, is shown once.
    """
    documents: dict[str, dict[tuple[int, int, str], Passage]] = {}
    for piece in (strip.as_passage for strip in strips):
        documents.setdefault(piece.doc_id, {})[(piece.start_char, piece.end_char, piece.text)] = piece
    return tuple(_joined([pieces[place] for place in sorted(pieces)]) for pieces in documents.values())


def _joined(pieces: Sequence[Passage]) -> Passage:
    text = " ".join(piece.text for piece in pieces)
    spans = tuple((piece.start_char, piece.end_char) for piece in pieces)
    return replace(pieces[0], text=text, end_char=max(end for _, end in spans), parts=spans if len(spans) > 1 else ())


def _strips(passage: Passage, how: Decomposition, sentences: int) -> list[Strip]:
    spans = passage_sentences(passage.text)
    size = len(spans) if how != "sentences" or len(spans) <= SHORT_SENTENCES else sentences
    groups = [spans[first : first + size] for first in range(0, len(spans), max(size, 1))]
    return [Strip(passage, group[0][0], group[-1][1]) for group in groups]
