"""Knowledge refinement of Corrective RAG (paper section 4.4), the same for both sources of knowledge.

Passages are cut into strips, each is scored, and the best are put together again. A reply of the model gives at most
three keywords for the external search (paper section 4.5).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from arena.errors import StrategyError
from arena.protocols import Tools
from arena.types import Passage
from strategies.answer import parse_answer, passage_sentences
from strategies.corrective.evaluator import PassageScore, evaluate
from strategies.corrective.params import CorrectiveParams, Decomposition

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


@dataclass(frozen=True, slots=True)
class Refined:
    """What was kept of `total` strips, and the best of all that were scored (None: there was none)."""

    kept: tuple[Strip, ...]
    total: int
    best: tuple[Strip, PassageScore] | None


async def refine_strips(
    question: str,
    passages: Sequence[Passage],
    tools: Tools,
    params: CorrectiveParams,
    *,
    role: str,
    known: Mapping[str, PassageScore],
) -> Refined:
    """Decompose and filter. `known`: passage id -> its mark, which a strip that is the whole passage takes over."""
    strips = decompose(passages, params.decompose, params.strip_sentences)
    new = [strip for strip in strips if not _whole(strip) or strip.passage.passage_id not in known]
    fresh = iter(await evaluate(question, [strip.as_passage for strip in new], tools, params, role=role))
    asked = set(new)
    marks = [next(fresh) if strip in asked else known[strip.passage.passage_id] for strip in strips]
    kept = strongest(strips, [mark.score for mark in marks], params.thresholds.strips.value, params.max_strips)
    places = range(len(strips))
    first = max(places, key=lambda place: (marks[place].score, -place), default=None)
    return Refined(kept, len(strips), None if first is None else (strips[first], marks[first]))


def whole_passages(passages: Sequence[Passage]) -> tuple[Strip, ...]:
    """Each passage as the one strip it is without refinement."""
    return decompose(passages, "none", 1)


def _whole(strip: Strip) -> bool:
    return strip.text == strip.passage.text.strip()


LONGEST_WORDS = 8
"""A longer piece is prose, not a keyword."""

_LABEL = re.compile(
    r"^[*_`\"']*(?:search\s+)?(?:keywords?|phrases?|query)(?:\s*\([^)]*\))?[*_`]*\s*:[*_`]*\s*", re.IGNORECASE
)
_BULLET = re.compile(r"^(?:[-*\u2022]+|\d{1,2}[.)])\s+")
_AROUND = " \t\"'`*_.;:\u201c\u201d\u2018\u2019"


def parse_keywords(reply: str, most: int) -> tuple[str, ...]:
    """The first `most` keywords of the reply's first line: comma separated, each once whatever its case.

    Empty for a reply that says nothing, does not know, or writes prose.
    """
    try:
        said = parse_answer(reply)
    except StrategyError:
        return ()
    if said.abstained:
        return ()
    first_line, _, _ = _LABEL.sub("", said.text).partition("\n")
    found: dict[str, str] = {}
    for piece in first_line.split(","):
        keyword = " ".join(_BULLET.sub("", piece.strip()).strip(_AROUND).split())
        if keyword and len(keyword.split()) <= LONGEST_WORDS:
            found.setdefault(keyword.casefold(), keyword)
    return tuple(found.values())[:most]
