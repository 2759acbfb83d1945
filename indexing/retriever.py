"""The one place that turns a request into an answer of the index; every strategy retrieves through it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import anyio.to_thread
import numpy as np

from arena.errors import ConfigError, StrategyError, UnknownNameError
from arena.protocols import Embedder, Embedding, SparseVector, Vectors
from arena.types import Hit, LaneHit, Passage, Retrieval, RetrievalRequest, RetrievalSeconds
from indexing.build import Index
from indexing.engines import Engine
from indexing.engines.ranking import Ranking

DEPTH = 50
RRF_K = 60
BATCH_SIZE = 256  # queries an engine sees at once; bounds the memory of a batch of thousands

QueryPlan = Callable[[Engine, Embedding, RetrievalRequest], list[Ranking]]
"""Rankings for n embedded queries that share everything in the request but the query."""


def _dense(engine: Engine, queries: Embedding, request: RetrievalRequest) -> list[Ranking]:
    return engine.dense(queries.dense, request.k)


def _hybrid(engine: Engine, queries: Embedding, request: RetrievalRequest) -> list[Ranking]:
    # A lane shallower than k could leave out passages that k has room for.
    depth = max(DEPTH if request.depth is None else request.depth, request.k)
    rrf_k = RRF_K if request.rrf_k is None else request.rrf_k
    return engine.hybrid(queries.dense, queries.sparse, depth=depth, rrf_k=rrf_k)


MODES: Mapping[str, QueryPlan] = {"dense": _dense, "hybrid": _hybrid}
"""`dense`: cosine alone. `hybrid`: cosine and BM25, each to `depth`, fused by reciprocal ranks."""


@dataclass(frozen=True, slots=True)
class KnownQuery:
    """A query's vectors and the seconds it took to make them."""

    dense: Vectors
    sparse: SparseVector
    seconds: float


class IndexRetriever:
    """A `Retriever` over an open index. Equal requests get equal hits, alone, in a batch, or from eight threads.

    Each query text is embedded once in the life of the retriever and kept (4 bytes a dimension); a request for a
    known text reports what that took as `known_embed` seconds, and 0 as `embed`.
    """

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder
        self._places = {passage.passage_id: passage for passage in index.passages}
        self._known: dict[str, KnownQuery] = {}
        # Held while embedding: a model runs one call at a time, and no text is embedded twice.
        self._embedding = threading.Lock()

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        """At most `request.k` hits, fewer only when the index has no more.

        Raises `UnknownNameError` for a mode that does not exist, `ConfigError` for a number out of range.
        """
        (retrieval,) = await self.retrieve_many([request])
        return retrieval

    async def retrieve_many(self, requests: Sequence[RetrievalRequest]) -> tuple[Retrieval, ...]:
        """One retrieval for each request, in their order, through the engine's batch query.

        The hits are those of `retrieve`; seconds of shared work are divided evenly among those who shared it.
        """
        for request in requests:
            _check(request)
        return await anyio.to_thread.run_sync(self._answer, tuple(requests))

    def passage(self, passage_id: str) -> Passage:
        """The passage behind a hit. Raises `StrategyError` for an id that no hit can have had."""
        try:
            return self._places[passage_id]
        except KeyError:
            raise StrategyError(f"no passage {passage_id!r} in the index: use ids from its hits") from None

    def close(self) -> None:
        """Close the index; no request may follow."""
        self._index.close()

    def _answer(self, requests: tuple[RetrievalRequest, ...]) -> tuple[Retrieval, ...]:
        embed = self._embed([request.query for request in requests])
        answers: dict[int, Retrieval] = {}
        for group in _alike(requests):
            started = time.perf_counter()
            known = [self._known[requests[i].query] for i in group]
            queries = Embedding(np.stack([one.dense for one in known]), tuple(one.sparse for one in known))
            rankings = MODES[requests[group[0]].mode](self._index.engine, queries, requests[group[0]])
            share = (time.perf_counter() - started) / len(group)
            for i, ranking in zip(group, rankings, strict=True):
                seconds = replace(embed[i], search=share)
                answers[i] = Retrieval(requests[i], self._hits(ranking, requests[i].k), seconds)
        return tuple(answers[i] for i in range(len(requests)))

    def _embed(self, queries: Sequence[str]) -> list[RetrievalSeconds]:
        """Make all `queries` known, and say for each what that took. Waiting for other threads is not counted."""
        with self._embedding:
            new = [query for query in dict.fromkeys(queries) if query not in self._known]
            if new:
                started = time.perf_counter()
                embedded = self._embedder.embed_queries(new)
                share = (time.perf_counter() - started) / len(new)
                for query, dense, sparse in zip(new, embedded.dense, embedded.sparse, strict=True):
                    self._known[query] = KnownQuery(dense, sparse, share)
        unpaid = set(new)
        seconds = []
        for query in queries:
            took = self._known[query].seconds
            seconds.append(RetrievalSeconds(embed=took) if query in unpaid else RetrievalSeconds(known_embed=took))
            unpaid.discard(query)
        return seconds

    def _hits(self, ranking: Ranking, k: int) -> tuple[Hit, ...]:
        lanes = {
            name: {ranked.position: LaneHit(rank, ranked.score) for rank, ranked in enumerate(lane, 1)}
            for name, lane in ranking.lanes.items()
        }
        hits = []
        for rank, (position, score) in enumerate(ranking.best[:k], 1):
            passage = self._index.passages[position]
            places = {name: lane[position] for name, lane in lanes.items() if position in lane}
            hits.append(Hit(passage.passage_id, passage.doc_id, rank, score, places))
        return tuple(hits)


def _alike(requests: Sequence[RetrievalRequest]) -> list[list[int]]:
    """Places of requests that differ in nothing but the query, in groups of at most `BATCH_SIZE`."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, request in enumerate(requests):
        groups.setdefault((request.mode, request.k, request.depth, request.rrf_k), []).append(i)
    return [group[at : at + BATCH_SIZE] for group in groups.values() for at in range(0, len(group), BATCH_SIZE)]


def _check(request: RetrievalRequest) -> None:
    if request.mode not in MODES:
        raise UnknownNameError("retrieval mode", request.mode, MODES)
    for name, value in (("k", request.k), ("depth", request.depth), ("rrf_k", request.rrf_k)):
        if value is not None and value < 1:
            raise ConfigError(f"retrieval setting {name} must be at least 1, not {value!r}")
