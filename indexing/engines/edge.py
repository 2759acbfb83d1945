"""Embedded Qdrant (Qdrant Edge): the Rust engine in this process, files in one folder, no server.

The shard has no write-ahead log. The log takes a lock that keeps every other process out; without it, data is
durable at `flush`, which suits an index that is built once and then only read, by several processes at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import IndexMismatchError
from arena.files import read_json
from arena.protocols import Embedding, SparseVector, Vectors
from indexing.engines.collection import DENSE, MULTI, SPARSE, Collection, FusionJob, Term, VectorShape, floats_in
from indexing.engines.ranking import EngineSettings, Ranked

if TYPE_CHECKING:
    import qdrant_edge

_MOST_FLOATS = 1_000_000  # in one upsert: as Python floats they take eight times the bytes of float32
_CONFIG = "edge_config.json"  # written by the engine


class EdgeEngine(Collection):
    """`indexing.engines.Engine` over one `EdgeShard`."""

    def __init__(self, shard: qdrant_edge.EdgeShard, shape: VectorShape, settings: EngineSettings) -> None:
        super().__init__(shape, settings)
        self._shard = shard

    @staticmethod
    def version() -> str:
        return version("qdrant-edge-py")

    @classmethod
    def create(
        cls,
        folder: Path,
        dimension: int,
        *,
        idf: bool = True,
        multi_dimension: int | None = None,
        distance: str = "cosine",
        settings: EngineSettings | None = None,
    ) -> EdgeEngine:
        import qdrant_edge as edge

        shape, settings = VectorShape(dimension, idf, multi_dimension, distance), settings or EngineSettings()
        with _as_os_error(f"cannot create {str(folder)!r}"):
            return cls(edge.EdgeShard.create(str(folder), _config(shape, settings)), shape, settings)

    @classmethod
    def load(cls, folder: Path, *, settings: EngineSettings | None = None) -> EdgeEngine:
        import qdrant_edge as edge

        with _as_os_error(f"cannot read {str(folder)!r}"):
            config = read_json(folder / _CONFIG)
            multi = config["vectors"].get(MULTI)
            idf = "modifier" in config["sparse_vectors"][SPARSE]
            dense = config["vectors"][DENSE]
            shape = VectorShape(dense["size"], idf, multi and multi["size"], str(dense["distance"]).lower())
            return cls(edge.EdgeShard.load(str(folder)), shape, settings or EngineSettings())

    @classmethod
    def discard(cls, folder: Path, *, settings: EngineSettings | None = None) -> None:
        """Everything is inside the folder."""

    def flush(self) -> None:
        """See `Engine.flush`. Two graphs of the same points may differ; one graph always answers alike."""
        with _as_os_error("cannot write its files"):
            if not self._exact:
                self._shard.optimize()
            self._shard.flush()

    def close(self) -> None:
        self._shard.close()

    def _count(self) -> int:
        return self._shard.info().points_count

    def _store(self, positions: Sequence[int], embedding: Embedding) -> None:
        import qdrant_edge as edge

        points: list[edge.Point] = []
        floats = 0
        for row, position in enumerate(positions):
            size = floats_in(embedding, row)
            if points and floats + size > _MOST_FLOATS:
                self._upsert(points)
                points, floats = [], 0
            floats += size
            vectors = {DENSE: embedding.dense[row].tolist()}
            if embedding.sparse[row].indices:
                vectors[SPARSE] = _term_vector(embedding.sparse[row])
            if embedding.multi is not None:
                vectors[MULTI] = embedding.multi[row].tolist()
            points.append(edge.Point(position, vectors))
        self._upsert(points)

    def _upsert(self, points: list[qdrant_edge.Point]) -> None:
        import qdrant_edge as edge

        with _as_os_error("cannot store points"):
            self._shard.update(edge.UpdateOperation.upsert_points(points))

    def _nearest(self, lane: str, queries: Sequence[Term], limit: int, *, exact: bool) -> list[list[Ranked]]:
        import qdrant_edge as edge

        params = edge.SearchParams(exact=True) if exact else edge.SearchParams(hnsw_ef=self._settings.hnsw_ef)
        return self._run(
            [edge.QueryRequest(limit=limit, query=_nearest(lane, query), params=params) for query in queries]
        )

    def _fuse(self, jobs: Sequence[FusionJob], depth: int) -> list[list[Ranked]]:
        return self._run([_fusion_request(job, depth) for job in jobs])

    def _interact(self, query: Vectors, positions: Sequence[int]) -> list[Ranked]:
        import qdrant_edge as edge

        (row,) = self._run(
            [
                edge.QueryRequest(
                    limit=len(positions),
                    query=edge.Query.Nearest(query.tolist(), using=MULTI),
                    filter=_among(positions),
                    params=edge.SearchParams(exact=True),
                )
            ]
        )
        return row

    def _run(self, requests: list[qdrant_edge.QueryRequest]) -> list[list[Ranked]]:
        """One batch: queries of the same lane share one pass over the vectors."""
        import qdrant_edge as edge

        if not requests:
            return []
        try:
            answers = self._shard.query_batch(edge.QueryBatchRequest(requests))
        except Exception as error:  # the bindings raise nothing narrower
            raise IndexMismatchError(
                f"the index cannot answer: {error}; `arena index build` makes one that can"
            ) from error
        return [[Ranked(int(point.id), point.score) for point in answer] for answer in answers]


def _config(shape: VectorShape, settings: EngineSettings) -> qdrant_edge.EdgeConfig:
    import qdrant_edge as edge

    distance = edge.Distance.Cosine if shape.distance == "cosine" else edge.Distance.Dot
    vectors = {DENSE: edge.EdgeVectorParams(size=shape.dimension, distance=distance)}
    if shape.multi_dimension is not None:
        vectors[MULTI] = edge.EdgeVectorParams(
            size=shape.multi_dimension,
            distance=edge.Distance.Cosine,
            multivector_config=edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim),
            hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=1, full_scan_threshold=1),  # m = 0: no graph
        )
    # A graph, where `flush` asks for one, is one graph and covers the smallest collection.
    return edge.EdgeConfig(
        vectors=vectors,
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if shape.idf else None)},
        hnsw_config=edge.HnswIndexConfig(settings.hnsw_m, settings.hnsw_ef_construct, full_scan_threshold=1),
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=1, default_segment_number=1),
        wal_enabled=False,
    )


def _fusion_request(job: FusionJob, depth: int) -> qdrant_edge.QueryRequest:
    import qdrant_edge as edge

    exact = edge.SearchParams(exact=True)
    prefetches = [
        edge.Prefetch(
            limit=depth,
            query=_nearest(source.name, source.query),
            filter=_among([ranked.position for ranked in source.found]),
            params=exact,
        )
        for source in job.sources
    ]
    dbsf = job.fusion.method == "dbsf"
    how = edge.Fusion.Dbsf() if dbsf else edge.Fusion.Rrf(k=job.fusion.rrf_k, weights=job.weights)
    # A Fusion is a query, which the stubs do not say.
    return edge.QueryRequest(limit=2 * depth, prefetches=prefetches, query=how)  # type: ignore[arg-type]


def _nearest(lane: str, query: Term) -> qdrant_edge.Query:
    import qdrant_edge as edge

    vector = _term_vector(query) if isinstance(query, SparseVector) else query.tolist()
    return edge.Query.Nearest(vector, using=lane)


def _among(positions: Sequence[int]) -> qdrant_edge.Filter:
    import qdrant_edge as edge

    return edge.Filter(must=[edge.HasIdCondition(set(positions))])


def _term_vector(vector: SparseVector) -> qdrant_edge.SparseVector:
    import qdrant_edge as edge

    return edge.SparseVector(list(vector.indices), list(vector.values))


@contextmanager
def _as_os_error(what: str) -> Iterator[None]:
    """The bindings raise bare `Exception` for whatever the disk does to them."""
    try:
        yield
    except Exception as error:
        raise OSError(f"Qdrant Edge {what}: {error}") from error
