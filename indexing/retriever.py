"""The one place that turns a request into an answer of the index; every strategy retrieves through it.

`Batched` retrieves for many questions at once, through the engine's batch query.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import anyio
import anyio.to_thread
import numpy as np

from arena.errors import ConfigError, StrategyError, WeightsError
from arena.protocols import Embedder, Embedding, Reranker, Retriever, SparseVector, Vectors
from arena.types import Hit, LaneHit, Passage, Retrieval, RetrievalRequest, RetrievalSeconds
from indexing.embedding.embedder import Encoded, embed_queries_timed, require_finite
from indexing.engines.ranking import Ranked, Ranking, by_score
from indexing.modes import MODES, check_request, depth_of, k_of
from indexing.opening import Index
from indexing.rerank.late_interaction import seconds_on_passages

RERANK = "rerank"
BATCH_SIZE = 256  # queries an engine sees at once; bounds the memory of a batch of thousands

__all__ = ["MODES", "IndexRetriever"]


@dataclass(frozen=True, slots=True)
class KnownQuery:
    """A query's vectors and the seconds it took to make them."""

    dense: Vectors
    sparse: SparseVector
    seconds: float


class IndexRetriever:
    """A `Retriever` over an open index. Equal requests get equal hits, alone, in a batch, or from eight threads.

    (With a reranker, as far as its scores do not depend on what else is in its batch.) Each query text is embedded
    once in the life of the retriever and kept (4 bytes a dimension); a request for a text known to it, or to
    its embedder, reports what that took as `known_embed` seconds, and 0 as `embed`.
    """

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        reranker: Reranker | None = None,
        *,
        models: threading.Lock | None = None,
    ) -> None:
        """`models` is held while a model works; retrievers that share a model share it too (None: one of its own)."""
        self._index = index
        self._embedder = embedder
        self._reranker = reranker
        self._places = {passage.passage_id: passage for passage in index.passages}
        self._pieces = Counter(passage.doc_id for passage in index.passages)
        self._known: dict[str, KnownQuery] = {}
        # No text is embedded twice, and a reranker may run the embedder's own model.
        self._models = models or threading.Lock()

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        """At most `request.k` hits; fewer when the index has no more, or a threshold dropped the rest.

        `beyond` names what `hybrid` fused, what the reranker let pass, or the first `DEPTH` of `dense`, after the first
        k. Raises `UnknownNameError` for a mode or fusion that does not exist, `ConfigError` for a
        setting out of range and for a mode that reranks where no reranker was given, `WeightsError` when a model gives
        numbers that are not finite.
        """
        (retrieval,) = await self.retrieve_many([request])
        return retrieval

    async def retrieve_many(self, requests: Sequence[RetrievalRequest]) -> tuple[Retrieval, ...]:
        """One retrieval for each request, in their order, through the engine's batch query.

        The hits are those of `retrieve`; seconds of shared work are divided evenly among those who shared it.
        """
        for request in requests:
            self._check(request)
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

    def _check(self, request: RetrievalRequest) -> None:
        check_request(request)
        if MODES[request.mode].reranked and self._reranker is None:
            raise ConfigError(
                f"mode {request.mode!r} needs a reranker and none is set: name one as `rerank.model`, "
                f"or leave {request.mode!r} out of the modes"
            )

    def _answer(self, requests: tuple[RetrievalRequest, ...]) -> tuple[Retrieval, ...]:
        embed = self._embed([request.query for request in requests])
        answers: dict[int, Retrieval] = {}
        for group in _alike(requests):
            asked = [requests[i] for i in group]
            plan = MODES[asked[0].mode]
            started = time.perf_counter()
            known = [self._known[request.query] for request in asked]
            queries = Embedding(np.stack([one.dense for one in known]), tuple(one.sparse for one in known))
            rankings = plan.candidates(self._index.engine, queries, asked[0])
            search = (time.perf_counter() - started) / len(group)
            rerank = 0.0
            if plan.reranked and self._reranker:
                rankings, rerank = self._rerank(self._reranker, asked, rankings)
            for i, ranking in zip(group, rankings, strict=True):
                answers[i] = self._retrieval(requests[i], ranking, replace(embed[i], search=search, rerank=rerank))
        return tuple(answers[i] for i in range(len(requests)))

    def _embed(self, queries: Sequence[str]) -> list[RetrievalSeconds]:
        """Make all `queries` known, and say for each what that took. Waiting for other threads is not counted."""
        with self._models:
            new = [query for query in dict.fromkeys(queries) if query not in self._known]
            unpaid = self._learn(new) if new else set()
        seconds = []
        for query in queries:
            took = self._known[query].seconds
            seconds.append(RetrievalSeconds(embed=took) if query in unpaid else RetrievalSeconds(known_embed=took))
            unpaid.discard(query)
        return seconds

    def _learn(self, queries: Sequence[str]) -> set[str]:
        """Keep the vectors of new queries; gives those that were made now, not found in the embedder's own cache."""
        timed = embed_queries_timed(self._embedder, queries)
        dense, sparse = timed.embedding.dense, timed.embedding.sparse
        # By a vector that is not finite one engine finds nothing, and another whatever it likes.
        require_finite(Encoded(dense, sparse), queries, self._embedder.identity)
        vectors = zip(dense, sparse, timed.seconds, strict=True)
        self._known |= {query: KnownQuery(*one) for query, one in zip(queries, vectors, strict=True)}
        return {query for query, known in zip(queries, timed.known, strict=True) if not known}

    def _rerank(
        self, reranker: Reranker, asked: Sequence[RetrievalRequest], rankings: Sequence[Ranking]
    ) -> tuple[list[Ranking], float]:
        """The candidates of each ranking in the reranker's order, and the seconds that took, for each query.

        What the reranker spent on passages alone is left out: it is paid once, by whoever comes first.
        """
        candidates = [[ranked.position for ranked in ranking.best[: depth_of(asked[0])]] for ranking in rankings]
        passages = [[self._index.passages[position] for position in row] for row in candidates]
        with self._models:
            before = seconds_on_passages(reranker)
            started = time.perf_counter()
            scores = reranker.score([request.query for request in asked], passages)
            took = time.perf_counter() - started
            seconds = max(0.0, took - (seconds_on_passages(reranker) - before)) / len(asked)
        reranked = []
        for ranking, positions, row in zip(rankings, candidates, scores, strict=True):
            if not all(map(math.isfinite, row)):
                raise WeightsError(f"reranker {dict(reranker.identity)!r} gave a score that is not finite: use another")
            best = by_score(Ranked(position, score) for position, score in zip(positions, row, strict=True))
            reranked.append(Ranking(best, {**ranking.lanes, RERANK: best}))
        return reranked, seconds

    def _retrieval(self, request: RetrievalRequest, ranking: Ranking, seconds: RetrievalSeconds) -> Retrieval:
        threshold = self._threshold(request)
        kept = sum(threshold is None or ranked.score >= threshold for ranked in ranking.best)
        shown = min(kept, k_of(request))
        lanes = {
            name: {ranked.position: LaneHit(rank, ranked.score) for rank, ranked in enumerate(lane, 1)}
            for name, lane in ranking.lanes.items()
        }

        def hit(place: int) -> Hit:
            position, score = ranking.best[place]
            passage = self._index.passages[position]
            found = {name: lane[position] for name, lane in lanes.items() if position in lane}
            return Hit(passage.passage_id, passage.doc_id, place + 1, score, found, self._span(passage))

        return Retrieval(
            request,
            tuple(map(hit, range(shown))),
            seconds,
            dropped=tuple(map(hit, range(kept, len(ranking.best)))),
            beyond=tuple(self._index.passages[ranked.position].passage_id for ranked in ranking.best[shown:kept]),
        )

    def _span(self, passage: Passage) -> tuple[int, int] | None:
        """The part of its document that a passage is; None for the only passage of one."""
        return (passage.start_char, passage.end_char) if self._pieces[passage.doc_id] > 1 else None

    def _threshold(self, request: RetrievalRequest) -> float | None:
        """The request's own, else the one that the reranker's scale is known to want; None where nothing reranks."""
        if self._reranker is None or not MODES[request.mode].reranked:
            return None
        return self._reranker.default_threshold if request.threshold is None else request.threshold


def _alike(requests: Sequence[RetrievalRequest]) -> list[list[int]]:
    """Places of requests that differ in nothing but the query, in groups of at most `BATCH_SIZE`."""
    groups: dict[RetrievalRequest, list[int]] = {}
    for i, request in enumerate(requests):
        groups.setdefault(replace(request, query=""), []).append(i)
    return [group[at : at + BATCH_SIZE] for group in groups.values() for at in range(0, len(group), BATCH_SIZE)]


class BatchRetriever(Retriever, Protocol):
    """A retriever that answers many requests in one go, as it would answer each alone."""

    async def retrieve_many(self, requests: Sequence[RetrievalRequest]) -> tuple[Retrieval, ...]: ...


class OpenRetriever(BatchRetriever, Protocol):
    """One over something that is given back at the end."""

    def close(self) -> None: ...


@dataclass(slots=True, eq=False)
class _Waiting:
    """A request in line; exactly one of the other two is set once it was served."""

    request: RetrievalRequest
    retrieval: Retrieval | None = None
    error: Exception | None = None


@dataclass(slots=True)
class Batched:
    """A `Retriever` that serves together whatever is asked while an earlier batch is under way.

    Hits are those of the inner retriever. Seconds are a share of the batch's: right for throughput, too low
    for what a lone user would wait, so it suits cells that measure evidence, not latency.
    """

    inner: BatchRetriever
    _line: list[_Waiting] = field(default_factory=list)
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        mine = _Waiting(request)
        self._line.append(mine)
        async with self._turn:
            if mine in self._line:
                batch, self._line = self._line, []
                await self._serve(batch)
        if mine.error is not None:
            raise mine.error
        assert mine.retrieval is not None
        return mine.retrieval

    def passage(self, passage_id: str) -> Passage:
        return self.inner.passage(passage_id)

    async def _serve(self, batch: Sequence[_Waiting]) -> None:
        try:
            with anyio.CancelScope(shield=True):  # the others of the batch wait for it, whoever of them is given up
                retrievals = await self.inner.retrieve_many([waiting.request for waiting in batch])
        except Exception as error:  # noqa: BLE001  whatever it is, everyone in the batch is to hear of it
            for waiting in batch:
                waiting.error = error
        else:
            for waiting, retrieval in zip(batch, retrievals, strict=True):
                waiting.retrieval = retrieval
