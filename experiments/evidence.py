"""Where each question's evidence comes from: the shared index, the gold documents, or nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

    def for_question(self, question_id: str) -> Retriever:
        gold = [self.documents[doc_id] for doc_id in self.supporting[question_id]]
        return _Fixed({passage.passage_id: passage for document in gold for passage in passages_of([document])})


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """For strategies that declare `evidence="none"`: retrieving is a breach of contract."""

    def for_question(self, question_id: str) -> Retriever:
        return _Nothing()


@dataclass(frozen=True, slots=True)
class _Fixed:
    """Answers every request with the same passages, all of them whatever `k` is."""

    passages: Mapping[str, Passage]

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
