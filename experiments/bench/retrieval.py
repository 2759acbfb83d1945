"""`arena bench retrieval` and `arena bench index`: engines on synthetic points, each trial in a process of its own.

The yardstick is qdrant-client's local mode as its users call it.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from arena.protocols import Embedding, SparseVector
from experiments.bench.made_up import DIMENSION, TERMS, queries, slices
from experiments.bench.process import Figures, Say, apart, peak_memory_mb, timings_ms
from indexing.engines import ENGINES, Engine
from indexing.engines.ranking import RRF_K, EngineSettings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

NAME = "bench"
SEED = 7
K = 10
DEPTH = 50


def measure_local_mode(points: int, n: int) -> Figures:
    """Build in memory and ask `n` queries of each mode, each in one call of the client."""
    from qdrant_client import QdrantClient

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of its own size
        client = QdrantClient(":memory:")
        figures: Figures = {"build_seconds": _fill_collection(client, points)}
        asked = queries(points, max(n, 1), SEED)
        figures |= timings_ms(
            lambda i: client.query_points(NAME, query=asked.dense[i].tolist(), using="dense", limit=K), n, "dense"
        )
        figures |= timings_ms(lambda i: _query_collection(client, asked, i), n, "hybrid")
    return figures


def _fill_collection(client: QdrantClient, points: int) -> float:
    """Seconds in the client."""
    from qdrant_client import models

    client.create_collection(
        NAME,
        vectors_config={"dense": models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)},
        sparse_vectors_config={"sparse": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    seconds = 0.0
    for positions, embedding in slices(points, SEED):
        rows = zip(positions, embedding.dense.tolist(), embedding.sparse, strict=True)
        started = perf_counter()
        client.upsert(
            NAME,
            [
                models.PointStruct(id=at, vector={"dense": dense, "sparse": _terms(sparse)})
                for at, dense, sparse in rows
            ],
        )
        seconds += perf_counter() - started
    return seconds


def _query_collection(client: QdrantClient, asked: Embedding, i: int) -> object:
    from qdrant_client import models

    lanes = [
        models.Prefetch(query=asked.dense[i].tolist(), using="dense", limit=DEPTH),
        models.Prefetch(query=_terms(asked.sparse[i]), using="sparse", limit=DEPTH),
    ]
    return client.query_points(NAME, prefetch=lanes, query=models.RrfQuery(rrf=models.Rrf(k=RRF_K)), limit=K)


def _terms(vector: SparseVector) -> models.SparseVector:
    from qdrant_client import models

    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


EDGE = ("edge-exact", "edge-hnsw")
LOCAL_MODE = "local-mode"
SETTINGS: Figures = {
    "dimension": DIMENSION,
    "terms_per_point": TERMS,
    "k": K,
    "depth": DEPTH,
    "rrf_k": RRF_K,
    "seed": SEED,
}
GROUP = 256  # queries of one engine call in the batch
SMALL_GROUP = 8  # as many as wait together at the default concurrency
RECALL_QUERIES = 200


@dataclass(frozen=True, slots=True)
class RetrievalTrial:
    """What to measure. `engine`: `edge-exact`, `edge-hnsw` or `local-mode`; `queries`: single ones of each mode.

    `batch`: hybrid queries asked in large groups, and again in small ones (0 = none).
    """

    engine: str
    points: int
    queries: int
    batch: int


def run_trial(fields: Mapping[str, Any]) -> Figures:
    """The figures of a trial (see `RetrievalTrial`) in this process; it leaves out what it does not measure."""
    trial = RetrievalTrial(**fields)
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        if trial.engine == LOCAL_MODE:
            figures = measure_local_mode(trial.points, trial.queries)
        else:
            figures = _engine_figures(trial, Path(folder) / "shard")
    return {"engine": trial.engine, "points": trial.points, **figures, "peak_memory_mb": peak_memory_mb()}


def _engine_figures(trial: RetrievalTrial, folder: Path) -> Figures:
    graph = trial.engine == "edge-hnsw"
    settings = EngineSettings("edge", search="hnsw" if graph else "exact")
    build = _build(folder, trial, settings)
    started = perf_counter()
    engine = ENGINES["edge"].load(folder, settings=settings)
    engine.count()
    reopen = perf_counter() - started
    try:
        asked = queries(trial.points, max(trial.queries, 1), SEED)
        figures = {**build, "reopen_seconds": reopen}
        figures |= timings_ms(lambda i: engine.dense(asked.dense[i : i + 1], K), trial.queries, "dense")
        figures |= timings_ms(lambda i: _hybrid(engine, asked, i, i + 1), trial.queries, "hybrid")
        if graph and trial.queries:
            sample = queries(trial.points, RECALL_QUERIES, SEED).dense
            figures["recall_at_10"] = engine.measure_recall(sample, K)
        figures |= _batch_figures(engine, trial)
    finally:
        engine.close()
    return figures


def _build(folder: Path, trial: RetrievalTrial, settings: EngineSettings) -> Figures:
    """Seconds in the engine only: making the vectors does not count, as embedding would not."""
    started = perf_counter()
    engine = ENGINES["edge"].create(folder, DIMENSION, settings=settings)
    store = perf_counter() - started
    for positions, embedding in slices(trial.points, SEED):
        started = perf_counter()
        engine.add(positions, embedding)
        store += perf_counter() - started
    started = perf_counter()
    engine.flush()  # and builds the graph, where there is one
    engine.close()
    return {"build_seconds": store + perf_counter() - started}


def _batch_figures(engine: Engine, trial: RetrievalTrial) -> Figures:
    if not trial.batch:
        return {}
    asked = queries(trial.points, trial.batch, SEED)
    return {
        "batch_queries": trial.batch,
        "batch_seconds": _batch_seconds(engine, asked, GROUP),
        f"batch_of_{SMALL_GROUP}_seconds": _batch_seconds(engine, asked, SMALL_GROUP),
    }


def _batch_seconds(engine: Engine, asked: Embedding, group: int) -> float:
    """Seconds until all are answered, `group` in a call."""
    started = perf_counter()
    for at in range(0, len(asked.dense), group):
        _hybrid(engine, asked, at, at + group)
    return perf_counter() - started


def _hybrid(engine: Engine, asked: Embedding, start: int, end: int) -> None:
    engine.hybrid(asked.dense[start:end], asked.sparse[start:end], depth=DEPTH)


SIZES = (5_000, 21_100, 100_000)
MUSIQUE = 21_100  # passages of MuSiQue's corpus
MUSIQUE_QUESTIONS = 3_356
LOCAL_MODE_MOST = MUSIQUE  # points; beyond, one query takes seconds
LOCAL_MODE_QUERIES = 10


def measure_retrieval(
    points: Sequence[int] = SIZES, *, queries: int = 100, say: Say = lambda line: None
) -> dict[str, Any]:
    """Figures of every engine at every size, and what follows from them.

    `queries`: single queries of each mode per trial (local mode gets 10 of them). As many hybrid ones as MuSiQue has
    questions are asked in groups of 256 (`batch_seconds`) and again of 8 (`batch_of_8_seconds`), at its size only.
    `say` hears of each trial before it starts. On two idle cores, the defaults take some 8 minutes, and
    `points=(5_000, 21_100)` some 4. Keys of the result:

    - `settings`; `trials`, one mapping of figures each: times in ms or seconds, `recall_at_10` of the graph against
      exact search, `peak_memory_mb` of the trial's process. `build_seconds` is without embedding.
    - `times_faster_than_local_mode`: size -> p50 of a hybrid query of local mode over that of `edge-exact`.
    - `growth`: engine and mode -> p50 at the largest size over p50 at the smallest, beside that of the points.
    """
    trials = []
    for size in points:
        engines = [*EDGE, LOCAL_MODE] if size <= LOCAL_MODE_MOST else EDGE
        for engine in engines:
            asked = min(queries, LOCAL_MODE_QUERIES) if engine == LOCAL_MODE else queries
            batch = MUSIQUE_QUESTIONS if engine == "edge-exact" and size == MUSIQUE else 0
            say(f"{engine} with {size:,} points")
            trials.append(apart(run_trial, asdict(RetrievalTrial(engine, size, asked, batch))))
    return {
        "settings": {**SETTINGS, "queries": queries, "batch": MUSIQUE_QUESTIONS},
        "trials": trials,
        "times_faster_than_local_mode": _ratios(trials),
        "growth": _growth(trials),
    }


def _ratios(trials: Sequence[Figures]) -> Figures:
    p50 = {(figures["engine"], figures["points"]): figures["hybrid_p50_ms"] for figures in trials}
    return {
        str(size): _over(p50[LOCAL_MODE, size], p50["edge-exact", size]) for engine, size in p50 if engine == LOCAL_MODE
    }


def _growth(trials: Sequence[Figures]) -> Figures:
    smallest, largest = (
        [figures for figures in trials if figures["points"] == size]
        for size in (min(_sizes(trials)), max(_sizes(trials)))
    )
    before = {figures["engine"]: figures for figures in smallest}
    growth: Figures = {"points": _over(max(_sizes(trials)), min(_sizes(trials)))}
    for figures in largest:
        engine = figures["engine"]
        for mode in ("dense", "hybrid"):
            growth[f"{engine} {mode}"] = _over(figures[f"{mode}_p50_ms"], before[engine][f"{mode}_p50_ms"])
    return growth


def _sizes(trials: Sequence[Figures]) -> list[int]:
    return [size for figures in trials if isinstance(size := figures["points"], int)]


def _over(value: float | int | str | None, base: float | int | str | None) -> float | None:
    return value / base if isinstance(value, int | float) and isinstance(base, int | float) else None


def measure_index(points: Sequence[int] = SIZES, *, say: Say = lambda line: None) -> dict[str, Any]:
    """Build and reopen seconds and peak memory of each engine at each size, each in a process of its own.

    `say` hears of each trial before it starts. On two idle cores the defaults take some 6 minutes, most of it
    for the graph of 100,000 points, and `points=(5_000, 21_100)` one.
    """
    trials = []
    for size in points:
        for engine in EDGE:
            say(f"{engine} with {size:,} points")
            trials.append(apart(run_trial, asdict(RetrievalTrial(engine, size, 0, 0))))
    return {"settings": SETTINGS, "trials": trials}
