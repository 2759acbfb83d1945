"""Where each question's evidence comes from: the shared index, the gold documents with or without a change, or nowhere.

What is drawn is drawn by a hash of the question, so that a question always gets the same, in any run and any order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import NoReturn

from arena.errors import StrategyError
from arena.protocols import Retriever
from arena.types import Dataset, Document, Hit, Passage, Retrieval, RetrievalRequest
from indexing.chunking import passages_of


@dataclass(frozen=True, slots=True)
class SharedIndex:
    """Every question, and every strategy, gets the same retriever."""

    retriever: Retriever

    def for_question(self, question_id: str) -> Retriever:
        return self.retriever


@dataclass(frozen=True, slots=True)
class GoldDocuments:
    """Each question gets a retriever over exactly its own supporting documents, in corpus order."""

    documents: Mapping[str, Document]
    supporting: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, dataset: Dataset) -> GoldDocuments:
        """The gold of `dataset`. Corpus order, because the order of the chain would be a hint of its own."""
        place = {document.doc_id: position for position, document in enumerate(dataset.documents)}
        supporting = {
            question_id: tuple(sorted(gold.supporting_ids, key=place.__getitem__))
            for question_id, gold in dataset.gold.items()
        }
        needed = {doc_id for ids in supporting.values() for doc_id in ids}
        return cls({d.doc_id: d for d in dataset.documents if d.doc_id in needed}, supporting)

    def minus_one(self) -> GoldDocuments:
        """Without one document of each question, drawn; a question with fewer than two has none left to be asked on."""
        fewer = {
            question_id: _without(ids, min(ids, key=lambda doc_id: _draw(question_id, doc_id)))
            for question_id, ids in self.supporting.items()
            if len(ids) > 1
        }
        return replace(self, supporting=fewer)

    def for_question(self, question_id: str) -> Retriever:
        return _Fixed.of([self.documents[doc_id] for doc_id in self.supporting[question_id]])


@dataclass(frozen=True, slots=True)
class GoldAmongDistractors:
    """Each question's gold among `distractors` other documents of the corpus, or all others if those are fewer.

    Drawn without a look at the texts, so most have nothing to do with the question. Order is drawn too: a place tells
    nothing.
    """

    corpus: tuple[Document, ...]
    gold: GoldDocuments
    distractors: int

    def for_question(self, question_id: str) -> Retriever:
        gold = self.gold.supporting[question_id]
        chosen = {doc_id: self.gold.documents[doc_id] for doc_id in gold}
        wanted = min(len(self.corpus), len(gold) + self.distractors)
        drawn = (self.corpus[_draw(question_id, str(number)) % len(self.corpus)] for number in count())
        while len(chosen) < wanted:
            chosen |= {document.doc_id: document for document in islice(drawn, wanted - len(chosen))}
        return _Fixed.of(sorted(chosen.values(), key=lambda document: _draw(question_id, document.doc_id)))


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """For strategies that declare `evidence="none"`: retrieving is a breach of contract."""

    def for_question(self, question_id: str) -> Retriever:
        return _Nothing()


@dataclass(frozen=True, slots=True)
class _Fixed:
    """Answers every request with the same passages, all of them whatever `k` is."""

    passages: Mapping[str, Passage]

    @classmethod
    def of(cls, documents: Iterable[Document]) -> _Fixed:
        """The passages of `documents`, in their order."""
        return cls({passage.passage_id: passage for document in documents for passage in passages_of([document])})

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        hits = (
            Hit(passage.passage_id, passage.doc_id, rank=rank, score=1.0)
            for rank, passage in enumerate(self.passages.values(), start=1)
        )
        return Retrieval(request, tuple(hits))

    def passage(self, passage_id: str) -> Passage:
        return self.passages[passage_id]


class _Nothing:
    async def retrieve(self, request: RetrievalRequest) -> NoReturn:
        raise StrategyError("the strategy retrieves but declares evidence='none': declare evidence='index'")

    def passage(self, passage_id: str) -> NoReturn:
        raise StrategyError(f"no passage {passage_id!r}: the strategy declares evidence='none'")


def _draw(question_id: str, what: str) -> int:
    """A number that question and thing decide, and nothing else."""
    return int.from_bytes(hashlib.sha256(f"{question_id}\0{what}".encode()).digest()[:8], "big")


def _without(ids: tuple[str, ...], dropped: str) -> tuple[str, ...]:
    return tuple(doc_id for doc_id in ids if doc_id != dropped)
