"""A fixed shelf of passages as a retriever, another as the external source, and a judge that needs no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from arena.protocols import RetrievalSettings, Retriever
from arena.types import Hit, Passage, Question, Retrieval, RetrievalRequest, Task, Tier
from tests.samples import DOCUMENTS

MORE = {"d2": " Its walls were raised twice. Its market is held on Thursdays. Glass is sold. A road leads to the weir."}
PASSAGES = {
    d.doc_id: Passage(d.doc_id, d.doc_id, d.title, text, 0, len(text))
    for d in DOCUMENTS
    for text in (d.text + MORE.get(d.doc_id, ""),)
}
ELSEWHERE = {
    "e1": Passage("e1", "e1", "Town rolls", "The rolls of 1902 name Mirelle Ostrand governor of Tammerhold.", 0, 62),
    "e2": Passage("e2", "e2", "Hill towns", "Hill towns of the Ane keep a governor each.", 0, 43),
}
SETTINGS = RetrievalSettings("hybrid_rerank", k=2, depth=20, rrf_k=60, fusion="rrf", threshold=0.1)
QUESTION = Question("2hop__1_2", "Who governs Tammerhold?", "multi_hop", 2, "2hop")
TASK = QUESTION.task
SUMMARY = Task(QUESTION.text, "summary")


@dataclass
class ShelfRetriever:
    """The first k of a fixed shelf, and a note of what was asked. `dropped`: what a reranker scored too low."""

    shelf: Sequence[str] = ("d1", "d2", "d3")
    passages: Mapping[str, Passage] = field(default_factory=lambda: PASSAGES)
    dropped: Sequence[str] = ()
    asked: list[RetrievalRequest] = field(default_factory=list)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        self.asked.append(request)
        hits = tuple(Hit(name, name, rank, 1.0 / rank) for rank, name in enumerate(self.shelf[: request.k], 1))
        return Retrieval(request, hits, dropped=tuple(Hit(name, name, 1, 0.01) for name in self.dropped))

    def passage(self, passage_id: str) -> Passage:
        return self.passages[passage_id]

    def for_question(self, question_id: str) -> Retriever:
        return self

    @property
    def brought(self) -> set[str]:
        """The documents that it has handed out."""
        return {name for request in self.asked for name in self.shelf[: request.k]}


def elsewhere() -> ShelfRetriever:
    """The external source."""
    return ShelfRetriever(tuple(ELSEWHERE), ELSEWHERE)


class LengthEvaluator:
    """A trained judge that likes long texts."""

    identity: Mapping[str, str | int] = {"model": "length"}

    def score(self, question: str, texts: Sequence[str]) -> list[float]:
        return [min(1.0, len(text) / 100) for text in texts]


class SureRouter:
    """A trained router that takes every question for one of several steps."""

    identity: Mapping[str, str | int] = {"router": "sure"}
    tier: Tier = "T1"

    def probabilities(self, question: str) -> Mapping[str, float]:
        return {"A": 0.1, "B": 0.2, "C": 0.7}
