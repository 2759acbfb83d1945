"""What a dry run is equipped with: the index is planned and its chunks are counted, and nothing is embedded.

Passages are found by the words that they share with a query. That is no retrieval to be judged; it fills prompts with
passages of the corpus, cut as the run would cut them, which is what a dry run needs to know.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from arena.errors import StrategyError
from arena.protocols import Embedding, SparseVector
from arena.types import Hit, Passage, Retrieval, RetrievalRequest
from indexing.modes import k_of

if TYPE_CHECKING:
    from indexing.embedding import IndexEmbedder
    from indexing.opening import IndexPlan

_WORD = re.compile(r"\w+")


class Unembedding:
    """An `IndexEmbedder` that is known by all that identifies another one, and gives every text the same vectors."""

    def __init__(self, embedder: IndexEmbedder) -> None:
        self._embedder = embedder

    @property
    def identity(self) -> Mapping[str, str | int]:
        return self._embedder.identity

    @property
    def provenance(self) -> Mapping[str, str | int | float]:
        return self._embedder.provenance

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def sparse_idf(self) -> bool:
        return self._embedder.sparse_idf

    @property
    def batch_texts(self) -> int:
        return self._embedder.batch_texts

    def fitted(self, texts: Sequence[str]) -> Self:
        return self

    def count_truncated(self, texts: Sequence[str]) -> int:
        """By the tokenizer alone."""
        return self._embedder.count_truncated(texts)

    def embed_passages(self, texts: Sequence[str]) -> Embedding:
        one = np.eye(1, self.dimension, dtype=np.float32)
        multi = (one,) * len(texts) if self.identity.get("multivectors", "none") not in ("none", 0) else None
        return Embedding(np.repeat(one, len(texts), axis=0), (SparseVector((), ()),) * len(texts), multi)

    def embed_queries(self, texts: Sequence[str]) -> Embedding:
        return self.embed_passages(texts)


class PlannedRetriever:
    """Passages of a planned index by shared words: most of the query's words first, then in id order."""

    def __init__(self, plan: IndexPlan) -> None:
        self._passages = plan.passages
        self._places = {passage.passage_id: passage for passage in plan.passages}
        self._pieces = Counter(passage.doc_id for passage in plan.passages)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        wanted = k_of(request)
        shared = Counter(place for word in _words(request.query) for place in self._holders.get(word, ()))
        rest = (place for place in range(len(self._passages)) if place not in shared)
        ranked = sorted(shared, key=lambda place: (-shared[place], place))[:wanted]
        chosen = [*ranked, *(place for place, _ in zip(rest, range(wanted - len(ranked)), strict=False))]
        return Retrieval(request, tuple(self._hit(place, rank) for rank, place in enumerate(chosen, start=1)))

    async def retrieve_many(self, requests: Sequence[RetrievalRequest]) -> tuple[Retrieval, ...]:
        return tuple([await self.retrieve(request) for request in requests])

    def passage(self, passage_id: str) -> Passage:
        """The passage behind a hit. Raises `StrategyError` for an id that no hit can have had."""
        try:
            return self._places[passage_id]
        except KeyError:
            raise StrategyError(f"no passage {passage_id!r} in the index: use ids from its hits") from None

    def close(self) -> None:
        """Nothing is open."""

    def _hit(self, place: int, rank: int) -> Hit:
        passage = self._passages[place]
        span = (passage.start_char, passage.end_char) if self._pieces[passage.doc_id] > 1 else None
        return Hit(passage.passage_id, passage.doc_id, rank, 1.0 / rank, span=span)

    @cached_property
    def _holders(self) -> Mapping[str, Sequence[int]]:
        """Word -> places of the passages that hold it."""
        holders: dict[str, list[int]] = {}
        for place, passage in enumerate(self._passages):
            for word in _words(f"{passage.title} {passage.text}"):
                holders.setdefault(word, []).append(place)
        return holders


def counted(plan: IndexPlan, embedder: IndexEmbedder) -> dict[str, Any]:
    """What is known of an index that is not built."""
    from indexing.chunking import indexed_text

    texts = [indexed_text(passage) for passage in plan.passages]
    return {
        "documents": plan.documents,
        "passages": len(texts),
        "empty_passages": sum(not text.strip() for text in texts),
        "truncated_passages": embedder.count_truncated(texts),
    }


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
