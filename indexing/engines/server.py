"""Qdrant through its client: a server at a URL, or the client's own local mode in a folder or in memory.

A folder keeps what belongs to an index, so it holds a small file that names the collection, wherever that lies. Local
mode is exact, slow and made for thousands of points; in memory it is the tests' independent reference.

What the client raises is turned into errors that say what the user can mend.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.errors import ConfigError, IndexMismatchError
from arena.files import read_json
from arena.network import check_network_environment, redacted
from arena.protocols import SparseVector
from indexing.engines.collection import DENSE, MULTI, SPARSE, Engine, FusionJob, LaneQuery, Point, Term, VectorShape
from indexing.engines.ranking import MEMORY, EngineSettings, Ranked

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

TIMEOUT_SECONDS = 60
KEY_VARIABLE = "QDRANT_API_KEY"


@dataclass(frozen=True, slots=True)
class Connection:
    """An open client. `local`: the client's own local mode; `where`: the place in words, without the key.

    `shared`: other engines of this process use it too, and nobody closes it. `keyed`: an API key is sent.
    """

    client: QdrantClient
    local: bool
    where: str
    shared: bool = False
    keyed: bool = False

    @classmethod
    def open(cls, folder: Path, settings: EngineSettings) -> Connection:
        """The place that the settings name; local mode inside `folder` where they name none.

        Raises `ConfigError` when the place cannot be used; whether a server answers is seen at the first request.
        """
        from qdrant_client import QdrantClient

        if settings.url:
            check_network_environment()  # the client reads it, and calls all that is wrong there a wrong URL
            try:
                # Comparing versions would cost a request and answer a dead server with a warning.
                client = QdrantClient(
                    settings.url, api_key=settings.api_key, timeout=TIMEOUT_SECONDS, check_compatibility=False
                )
            except ValueError as error:
                raise ConfigError(f"no Qdrant URL: {settings.url!r} ({error}); write it as http://HOST:6333") from error
            return cls(client, False, f"at {settings.url!r}", keyed=bool(settings.api_key))
        if settings.path == MEMORY:
            return cls(_memory(), True, "in memory", shared=True)
        path = settings.path or str(folder / "qdrant")
        try:
            # Threads take turns in the retriever's pool; SQLite is only written while the index is built.
            client = QdrantClient(path=path, force_disable_check_same_thread=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise ConfigError(
                f"cannot open Qdrant's files in {path!r}: {error}; only one process at a time can: end the other, "
                "or use a Qdrant server or engine 'edge'"
            ) from error
        return cls(client, True, f"in {path!r}")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what a server does wrong into what the user can do about it."""
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            yield
        except UnexpectedResponse as error:
            if error.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                raise ConfigError(self._refusal(error.status_code)) from error
            raise ConfigError(
                f"Qdrant {self.where} cannot do this: {redacted(' '.join(str(error).split()))}"
            ) from error
        except ResponseHandlingException as error:
            what = redacted(str(error.source) or type(error.source).__name__)
            raise ConfigError(f"no Qdrant answers {self.where}: {what}; start the server or correct the URL") from error

    def _refusal(self, status: int | None) -> str:
        variable = f"the environment variable of index.api_key_variable, ${KEY_VARIABLE} unless set"
        if self.keyed:
            return f"Qdrant {self.where} refuses the API key (HTTP {status}): check it, and its rights, in {variable}"
        return f"Qdrant {self.where} wants an API key and none was sent (HTTP {status}): put it into {variable}"

    def close(self) -> None:
        if not self.shared:
            self.client.close()


@cache
def _memory() -> QdrantClient:
    """The one in-memory Qdrant of this process: what one engine stores, another can open."""
    from qdrant_client import QdrantClient

    return QdrantClient(MEMORY)


POINTER = "collection.json"
_POLL_SECONDS = 0.5
_IDLE_SECONDS = 5.0


class ServerEngine(Engine):
    """An `Engine` over one collection of a Qdrant client."""

    def __init__(self, connection: Connection, name: str, shape: VectorShape, settings: EngineSettings) -> None:
        super().__init__(shape, settings)
        self._connection = connection
        self._name = name

    @staticmethod
    def version() -> str:
        return version("qdrant-client")

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
    ) -> ServerEngine:
        settings = settings or EngineSettings("server")
        shape, name = VectorShape(dimension, idf, multi_dimension, distance), f"arena-{uuid.uuid4().hex}"
        folder.mkdir(parents=True)
        (folder / POINTER).write_text(json.dumps({"collection": name, "shape": asdict(shape)}), encoding="utf-8")
        with ExitStack() as undo:
            engine = cls(Connection.open(folder, settings), name, shape, settings)
            undo.callback(engine.close)
            engine._create()
            undo.pop_all()
        return engine

    @classmethod
    def load(cls, folder: Path, *, settings: EngineSettings | None = None) -> ServerEngine:
        settings = settings or EngineSettings("server")
        name, shape = _read_pointer(folder)
        with ExitStack() as undo:
            engine = cls(Connection.open(folder, settings), name, shape, settings)
            undo.callback(engine.close)
            engine._check_collection()
            undo.pop_all()
        return engine

    @classmethod
    def discard(cls, folder: Path, *, settings: EngineSettings | None = None) -> None:
        name, _ = _read_pointer(folder)
        connection = Connection.open(folder, settings or EngineSettings("server"))
        try:
            with connection.errors():
                connection.client.delete_collection(name)
        finally:
            connection.close()

    def flush(self) -> None:
        """A server makes what it acknowledged durable by itself; only a graph takes time."""
        if self._exact:
            return
        from qdrant_client import models

        with self._connection.errors():
            self._connection.client.update_collection(
                self._name,
                hnsw_config=self._graph(),
                optimizers_config=models.OptimizersConfigDiff(indexing_threshold=1),  # kB; usually 10 MB get no graph
            )
            if not self._connection.local:
                self._await_graph()

    def _await_graph(self) -> None:
        """Until the graph holds every point, or an idle server has not moved on for a while.

        What it then has left out lies in segments too small for a graph, which are searched exactly.
        """
        from qdrant_client import models

        indexed, since = -1, time.monotonic()
        while True:
            time.sleep(_POLL_SECONDS)  # first of all, until the server has noticed that there is work
            state = self._connection.client.get_collection(self._name)
            now, done = time.monotonic(), state.indexed_vectors_count or 0
            if state.status == models.CollectionStatus.YELLOW or done > indexed:
                since = now
            indexed = done
            complete = state.status == models.CollectionStatus.GREEN and indexed >= self.count()
            if complete or now - since >= _IDLE_SECONDS:
                return

    def close(self) -> None:
        self._connection.close()

    def _count(self) -> int:
        with self._connection.errors():
            return self._connection.client.count(self._name, exact=True).count

    def _create(self) -> None:
        from qdrant_client import models

        no_graph = models.HnswConfigDiff(m=0)
        distance = models.Distance.COSINE if self._shape.distance == "cosine" else models.Distance.DOT
        vectors = {DENSE: models.VectorParams(size=self._shape.dimension, distance=distance)}
        if self._shape.multi_dimension is not None:
            vectors[MULTI] = models.VectorParams(
                size=self._shape.multi_dimension,
                distance=models.Distance.COSINE,
                multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
                hnsw_config=no_graph,
            )
        idf = models.Modifier.IDF if self._shape.idf else None
        with self._connection.errors():
            self._connection.client.create_collection(
                self._name,
                vectors_config=vectors,
                sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=idf)},
                shard_number=1,  # idf is counted in each shard
                hnsw_config=no_graph,
            )

    def _check_collection(self) -> None:
        where = self._connection.where
        with self._connection.errors():
            if not self._connection.client.collection_exists(self._name):
                raise IndexMismatchError(f"no collection {self._name!r} {where}: `arena index build` makes a new one")
            vectors = self._connection.client.get_collection(self._name).config.params.vectors
        dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
        found = dense.size if dense else None
        if found != self._shape.dimension:
            raise IndexMismatchError(
                f"collection {self._name!r} {where} holds vectors of {found} dimensions, the index has "
                f"{self._shape.dimension}: `arena index build` makes a matching one"
            )

    def _store(self, points: Sequence[Point]) -> None:
        from qdrant_client import models

        made = [
            models.PointStruct(id=one.position, vector={lane: _vector(of) for lane, of in one.vectors.items()})
            for one in points
        ]
        with self._connection.errors():
            self._connection.client.upsert(self._name, made, wait=True)

    def _graph(self) -> models.HnswConfigDiff:
        from qdrant_client import models

        return models.HnswConfigDiff(
            m=self._settings.hnsw_m, ef_construct=self._settings.hnsw_ef_construct, full_scan_threshold=10
        )

    def _search(self, queries: Sequence[LaneQuery]) -> list[list[Ranked]]:
        from qdrant_client import models

        return self._run([models.QueryRequest(**self._asked(query)) for query in queries])

    def _fuse(self, jobs: Sequence[FusionJob], depth: int) -> list[list[Ranked]]:
        from qdrant_client import models

        requests = []
        for job in jobs:
            # Local mode ignores a filter beside a fusion; inside a prefetch it heeds it.
            prefetches = [models.Prefetch(**self._asked(source)) for source in job.sources]
            how: models.FusionQuery | models.RrfQuery
            if job.fusion.method == "dbsf":
                how = models.FusionQuery(fusion=models.Fusion.DBSF)
            else:
                how = models.RrfQuery(rrf=models.Rrf(k=job.fusion.rrf_k, weights=job.weights))
            requests.append(models.QueryRequest(prefetch=prefetches, query=how, limit=2 * depth))
        return self._run(requests)

    def _asked(self, query: LaneQuery) -> dict[str, Any]:
        """The arguments of a request, or of the part of one that asks one lane."""
        from qdrant_client import models

        params = models.SearchParams(exact=True) if query.exact else models.SearchParams(hnsw_ef=self._settings.hnsw_ef)
        among = None if query.among is None else models.Filter(must=[models.HasIdCondition(has_id=list(query.among))])
        return {
            "query": _vector(query.query),
            "using": query.lane,
            "limit": query.limit,
            "filter": among,
            # Local mode is always exact, and says so with a warning when told.
            "params": None if self._connection.local else params,
        }

    def _run(self, requests: list[models.QueryRequest]) -> list[list[Ranked]]:
        if not requests:
            return []
        with self._connection.errors():
            answers = self._connection.client.query_batch_points(self._name, requests)
        return [[Ranked(int(point.id), point.score) for point in answer.points] for answer in answers]


def _read_pointer(folder: Path) -> tuple[str, VectorShape]:
    """Name and shape of the collection of a folder; `OSError` where there is none."""
    try:
        content = read_json(folder / POINTER)
        return str(content["collection"]), VectorShape(**content["shape"])
    except (ValueError, KeyError, TypeError) as error:
        raise OSError(f"cannot read {str(folder / POINTER)!r}: {error}") from error


def _vector(vector: Term) -> Any:
    from qdrant_client import models

    if isinstance(vector, SparseVector):
        return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
    return vector.tolist()
