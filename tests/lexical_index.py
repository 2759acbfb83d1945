"""Documents found by the words they share with a query: a retriever for tests, exact and in memory."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log

from arena.protocols import Retriever
from arena.types import Document, Hit, Passage, Retrieval, RetrievalRequest

_WORD = re.compile(r"\w+")


@dataclass
class LexicalIndex:
    """BM25 over title and text (k1 1.2, b 0.75), ties by id; keeps a note of what was asked."""

    documents: Sequence[Document]
    asked: list[RetrievalRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._passages = {
            d.doc_id: Passage(d.doc_id, d.doc_id, d.title, d.text, 0, len(d.text)) for d in self.documents
        }
        terms = {d.doc_id: Counter(_words(f"{d.title} {d.text}")) for d in self.documents}
        mean = sum(map(Counter.total, terms.values())) / len(terms)
        self._weights: dict[str, dict[str, float]] = {}
        for doc_id, counts in terms.items():
            norm = 1.2 * (0.25 + 0.75 * counts.total() / mean)
            for word, count in counts.items():
                self._weights.setdefault(word, {})[doc_id] = 2.2 * count / (count + norm)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        self.asked.append(request)
        scores: dict[str, float] = defaultdict(float)
        for word in _words(request.query):
            found = self._weights.get(word, {})
            rarity = log(1 + (len(self._passages) - len(found) + 0.5) / (len(found) + 0.5))
            for doc_id, weight in found.items():
                scores[doc_id] += rarity * weight
        best = sorted(scores, key=lambda doc_id: (-scores[doc_id], doc_id))
        hits = (Hit(doc_id, doc_id, rank, scores[doc_id]) for rank, doc_id in enumerate(best[: request.k], start=1))
        return Retrieval(request, tuple(hits))

    def passage(self, passage_id: str) -> Passage:
        return self._passages[passage_id]

    def for_question(self, question_id: str) -> Retriever:
        return self


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
