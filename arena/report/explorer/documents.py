"""The documents of the page: numbered as they are first named, their texts written once.

Retrievals as tables. Equal ones of a question are held once: equal requests give equal hits in every cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from arena.report.explorer.columns import BEYOND, HITS, LANE, RETRIEVALS, Cut, Table, Vocabulary, cut
from arena.report.question import GoldDocument, gold_beyond, request_text
from arena.types import Document, Hit, Retrieval

MEMBER_CHARS = 100_000
"""Texts are put into one member until it holds this many characters: enough to compress, little to read."""


class DocumentShelf:
    """Documents by number. One that no record and no gold names has none, and is not in the page."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, doc_id: str) -> int:
        """The number of a document, from 0; the next one if it has not been named."""
        return self._numbers.setdefault(doc_id, len(self._numbers))

    def names(self) -> dict[str, list[str | None]]:
        """Ids and titles, in the order of the numbers; a title is None where the document is not known."""
        titles = [found.title if (found := self._documents.get(one)) else None for one in self._numbers]
        return {"ids": list(self._numbers), "titles": titles}

    def members(self, chars: int | None) -> Iterator[tuple[int, list[Cut | None]]]:
        """All texts in the order of the numbers, in pieces to be read one at a time: (number of the first, texts).

        Each is cut to `chars` characters (None: whole); None = it is not known.
        """
        first, held, kept = 0, 0, list[Cut | None]()
        for document in map(self._documents.get, self._numbers):
            text = None if document is None else cut(document.text, chars)
            kept.append(text)
            held += 0 if text is None else len(text) if isinstance(text, str) else len(text[0])
            if held >= MEMBER_CHARS:
                yield first, kept
                first, held, kept = first + len(kept), 0, []
        if kept:
            yield first, kept


Seen = tuple[object, ...]
"""All that tells one retrieval of a question from another, in one flat tuple."""


@dataclass(slots=True)
class QuestionShelf:
    """One question of a chunk. `labels`: the words of its gold documents' labels.

    `documents`: id -> its number here, gold first; `pool`: retrieval -> its number here.
    """

    slot: int
    text: str
    gold: Sequence[GoldDocument]
    labels: Sequence[int | None] = ()
    documents: dict[str, int] = field(default_factory=dict)
    pool: dict[Seen, int] = field(default_factory=dict)
    first_retrieval: int | None = None

    def __post_init__(self) -> None:
        for one in self.gold:
            self.number(one.doc_id)

    def number(self, doc_id: str) -> int:
        """The number of a document, from 0; the next one if it has not been named."""
        return self.documents.setdefault(doc_id, len(self.documents))

    def numbers(self, doc_ids: Iterable[str]) -> list[int]:
        """`number` of each."""
        return [self.number(doc_id) for doc_id in doc_ids]

    def shelved(self, shelf: DocumentShelf) -> list[int]:
        """Its documents by their numbers in the page."""
        return [shelf.number(doc_id) for doc_id in self.documents]


class RetrievalPool:
    """The retrievals of a chunk. `lanes`: lane -> ranks and scores of its hits, a row for every hit."""

    def __init__(self, words: Vocabulary) -> None:
        self._words = words
        self.retrievals, self.hits, self.beyond = Table(RETRIEVALS), Table(HITS), Table(BEYOND)
        self.lanes: dict[str, Table] = {}

    def add(self, retrieval: Retrieval, question: QuestionShelf) -> int:
        """Hold a retrieval; where it stands, counted from the question's first one."""
        seen = _identity(retrieval)
        if seen not in question.pool:
            if question.first_retrieval is None:
                question.first_retrieval = len(self.retrievals)
            question.pool[seen] = len(self.retrievals) - question.first_retrieval
            self._append(retrieval, question)
        return question.pool[seen]

    def _append(self, retrieval: Retrieval, question: QuestionShelf) -> None:
        request = retrieval.request
        beyond = gold_beyond(retrieval.beyond, question.gold)
        self.retrievals.add(
            question=question.slot,
            query=None if request.query == question.text else self._words.number(request.query),
            request=self._words.number(request_text(request)),
            n_hits=len(retrieval.hits),
            n_dropped=len(retrieval.dropped),
            n_beyond=len(retrieval.beyond),
            n_gold_beyond=len(beyond),
        )
        self._append_hits((*retrieval.hits, *retrieval.dropped), question)
        for place, document in beyond:
            self.beyond.add(document=question.number(document.doc_id), place=place)

    def _append_hits(self, hits: Sequence[Hit], question: QuestionShelf) -> None:
        for name in dict.fromkeys(name for hit in hits for name in hit.lanes):
            if name not in self.lanes:
                self.lanes[name] = Table(LANE)
                self.lanes[name].extend(rank=[None] * len(self.hits))
        self.hits.extend(
            document=question.numbers(hit.doc_id for hit in hits),
            passage=[None if hit.passage_id == hit.doc_id else self._words.number(hit.passage_id) for hit in hits],
            start=[hit.span[0] if hit.span else None for hit in hits],
            end=[hit.span[1] if hit.span else None for hit in hits],
            rank=[hit.rank for hit in hits],
            score=[hit.score for hit in hits],
        )
        for name, lane in self.lanes.items():
            placed = [hit.lanes.get(name) for hit in hits]
            lane.extend(rank=[one.rank if one else None for one in placed], score=[one.score for one in placed if one])


def _identity(retrieval: Retrieval) -> Seen:
    hits = (*retrieval.hits, *retrieval.dropped)
    counts = (len(retrieval.hits), len(retrieval.beyond))
    return (retrieval.request, *counts, *[hit.passage_id for hit in hits], *[hit.score for hit in hits])
