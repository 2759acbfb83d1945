"""Embedded Qdrant (Qdrant Edge): the Rust engine in this process, files in one folder, no server.

The shard has no write-ahead log. The log takes a lock that keeps every other process out; without it, data is
durable at `flush`, which suits an index that is built once and then only read, by several processes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from arena.protocols import Embedding, SparseVector, Vectors
from indexing.engines.ranking import Lane, Ranked, Ranking, has_ties, in_order, reciprocal_rank_fusion, settled

if TYPE_CHECKING:
    import qdrant_edge

DENSE = "dense"
SPARSE = "sparse"


class EdgeEngine:
    """`indexing.engines.Engine` over one `EdgeShard`; exact search, cosine and BM25 with idf."""

    def __init__(self, shard: qdrant_edge.EdgeShard) -> None:
        self._shard = shard

    @staticmethod
    def version() -> str:
        return version("qdrant-edge-py")

    @classmethod
    def create(cls, folder: Path, dimension: int) -> EdgeEngine:
        import qdrant_edge as edge

        config = edge.EdgeConfig(
            vectors={DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
            sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
            wal_enabled=False,
        )
        with _as_os_error(f"cannot create {str(folder)!r}"):
            return cls(edge.EdgeShard.create(str(folder), config))

    @classmethod
    def load(cls, folder: Path) -> EdgeEngine:
        import qdrant_edge as edge

        with _as_os_error(f"cannot read {str(folder)!r}"):
            return cls(edge.EdgeShard.load(str(folder)))

    def add(self, positions: Sequence[int], embedding: Embedding) -> None:
        import qdrant_edge as edge

        if not np.isfinite(embedding.dense).all():
            # The engine would store it and then silently leave the point out of every answer.
            row = int(np.flatnonzero(~np.isfinite(embedding.dense).all(axis=1))[0])
            raise ValueError(f"the dense vector at position {positions[row]} is not finite")
        rows = zip(positions, embedding.dense.tolist(), embedding.sparse, strict=True)
        points = [edge.Point(at, {DENSE: dense, SPARSE: _term_vector(sparse)}) for at, dense, sparse in rows]
        with _as_os_error("cannot store points"):
            self._shard.update(edge.UpdateOperation.upsert_points(points))

    def flush(self) -> None:
        with _as_os_error("cannot write its files"):
            self._shard.flush()

    def close(self) -> None:
        self._shard.close()

    def count(self) -> int:
        return self._shard.info().points_count

    def dense(self, queries: Vectors, limit: int) -> list[Ranking]:
        return [Ranking(lane, {DENSE: lane}) for lane in self._dense_lanes(queries, limit)]

    def hybrid(self, dense: Vectors, sparse: Sequence[SparseVector], *, depth: int, rrf_k: int) -> list[Ranking]:
        """See `Engine.hybrid`. Why every run gives the same answer, however the engine breaks ties.

        1. The lanes are ranked first, in total order: whatever ties at the cut is fetched and ordered.
        2. One query then prefetches both lanes among exactly those candidates and fuses them by RRF. It cannot
           pick other candidates, and costs little because it compares at most 2 * depth points.
        3. Ranks are all that RRF reads, and inside a lane the engine orders ties as its files lie. Where a lane has
           ties (BM25 often has), its ranks are settled by position instead and fused here, in the engine's
           own arithmetic. Without ties both ways give the same bits.
        4. Fused scores tie all the time (rank r of one lane, rank r of the other). All fused candidates are
           fetched and put in total order before anyone cuts.
        """
        dense_lanes = self._dense_lanes(dense, depth)
        sparse_lanes = self._sparse_lanes(sparse, depth)
        pairs = list(zip(dense_lanes, sparse_lanes, strict=True))
        clean = [i for i, pair in enumerate(pairs) if not any(map(has_ties, pair))]
        requests = [self._fusion(dense[i].tolist(), sparse[i], *pairs[i], depth=depth, rrf_k=rrf_k) for i in clean]
        fused = dict(zip(clean, map(in_order, self._run(requests)), strict=True))
        return [
            Ranking(
                fused[i] if i in fused else reciprocal_rank_fusion(pair, rrf_k),
                {DENSE: pair[0], SPARSE: pair[1]},
            )
            for i, pair in enumerate(pairs)
        ]

    def _dense_lanes(self, queries: Vectors, limit: int) -> list[Lane]:
        return self._lanes(lambda i: self._nearest(queries[i].tolist(), DENSE), len(queries), limit)

    def _sparse_lanes(self, queries: Sequence[SparseVector], limit: int) -> list[Lane]:
        return self._lanes(lambda i: self._nearest(_term_vector(queries[i]), SPARSE), len(queries), limit)

    def _lanes(self, query: Callable[[int], qdrant_edge.Query], queries: int, limit: int) -> list[Lane]:
        import qdrant_edge as edge

        exact = edge.SearchParams(exact=True)
        everything = self.count()

        def fetch(which: Sequence[int], n: int) -> list[list[Ranked]]:
            size = min(n, everything + 1)
            return self._run([edge.QueryRequest(limit=size, query=query(i), params=exact) for i in which])

        return settled(fetch, queries, limit)

    def _fusion(
        self, dense: list[float], sparse: SparseVector, dense_lane: Lane, sparse_lane: Lane, *, depth: int, rrf_k: int
    ) -> qdrant_edge.QueryRequest:
        import qdrant_edge as edge

        exact = edge.SearchParams(exact=True)

        def prefetch(query: qdrant_edge.Query, lane: Lane) -> qdrant_edge.Prefetch:
            among = edge.Filter(must=[edge.HasIdCondition({ranked.position for ranked in lane})])
            return edge.Prefetch(limit=depth, query=query, filter=among, params=exact)

        lanes = [(self._nearest(dense, DENSE), dense_lane), (self._nearest(_term_vector(sparse), SPARSE), sparse_lane)]
        return edge.QueryRequest(
            limit=2 * depth,
            prefetches=[prefetch(query, lane) for query, lane in lanes if lane],
            query=edge.Fusion.Rrf(k=rrf_k),  # type: ignore[arg-type]  # a Fusion, which its stub does not say
        )

    @staticmethod
    def _nearest(vector: list[float] | qdrant_edge.SparseVector, lane: str) -> qdrant_edge.Query:
        import qdrant_edge as edge

        return edge.Query.Nearest(vector, using=lane)

    def _run(self, requests: list[qdrant_edge.QueryRequest]) -> list[list[Ranked]]:
        """One batch: queries of the same lane share one pass over the vectors."""
        import qdrant_edge as edge

        if not requests:
            return []
        answers = self._shard.query_batch(edge.QueryBatchRequest(requests))
        return [[Ranked(int(point.id), point.score) for point in answer] for answer in answers]


@contextmanager
def _as_os_error(what: str) -> Iterator[None]:
    """The bindings raise bare `Exception` for whatever the disk does to them."""
    try:
        yield
    except Exception as error:
        raise OSError(f"Qdrant Edge {what}: {error}") from error


def _term_vector(vector: SparseVector) -> qdrant_edge.SparseVector:
    import qdrant_edge as edge

    return edge.SparseVector(list(vector.indices), list(vector.values))
