"""Embedded Qdrant (Qdrant Edge): the Rust engine in this process, files in one folder, no server.

The shard has no write-ahead log. The log takes a lock that keeps every other process out; without it, data is
durable at `flush`, which suits an index that is built once and then only read, by several processes at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.errors import IndexMismatchError
from arena.files import read_json
from arena.protocols import SparseVector
from indexing.engines.collection import DENSE, MULTI, SPARSE, Engine, FusionJob, LaneQuery, Point, Term, VectorShape
from indexing.engines.ranking import EngineSettings, Ranked

if TYPE_CHECKING:
    import qdrant_edge

_CONFIG = "edge_config.json"  # written by the engine


class EdgeEngine(Engine):
    """An `Engine` over one `EdgeShard`."""

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
        """Two graphs of the same points may differ; one graph always answers alike."""
        with _as_os_error("cannot write its files"):
            if not self._exact:
                self._shard.optimize()
            self._shard.flush()

    def close(self) -> None:
        self._shard.close()

    def _count(self) -> int:
        return self._shard.info().points_count

    def _store(self, points: Sequence[Point]) -> None:
        import qdrant_edge as edge

        made = [edge.Point(one.position, {lane: _vector(of) for lane, of in one.vectors.items()}) for one in points]
        with _as_os_error("cannot store points"):
            self._shard.update(edge.UpdateOperation.upsert_points(made))

    def _search(self, queries: Sequence[LaneQuery]) -> list[list[Ranked]]:
        import qdrant_edge as edge

        return self._run([edge.QueryRequest(**self._asked(query)) for query in queries])

    def _fuse(self, jobs: Sequence[FusionJob], depth: int) -> list[list[Ranked]]:
        import qdrant_edge as edge

        requests = []
        for job in jobs:
            prefetches = [edge.Prefetch(**self._asked(source)) for source in job.sources]
            dbsf = job.fusion.method == "dbsf"
            how = edge.Fusion.Dbsf() if dbsf else edge.Fusion.Rrf(k=job.fusion.rrf_k, weights=job.weights)
            # A Fusion is a query, which the stubs do not say.
            requests.append(edge.QueryRequest(limit=2 * depth, prefetches=prefetches, query=how))  # type: ignore[arg-type]
        return self._run(requests)

    def _asked(self, query: LaneQuery) -> dict[str, Any]:
        """The arguments of a request, or of the part of one that asks one lane."""
        import qdrant_edge as edge

        among = None if query.among is None else edge.Filter(must=[edge.HasIdCondition(set(query.among))])
        return {
            "limit": query.limit,
            "query": edge.Query.Nearest(_vector(query.query), using=query.lane),
            "filter": among,
            "params": edge.SearchParams(exact=True)
            if query.exact
            else edge.SearchParams(hnsw_ef=self._settings.hnsw_ef),
        }

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


def _vector(vector: Term) -> Any:
    import qdrant_edge as edge

    if isinstance(vector, SparseVector):
        return edge.SparseVector(list(vector.indices), list(vector.values))
    return vector.tolist()


@contextmanager
def _as_os_error(what: str) -> Iterator[None]:
    """The bindings raise bare `Exception` for whatever the disk does to them."""
    try:
        yield
    except Exception as error:
        raise OSError(f"Qdrant Edge {what}: {error}") from error
