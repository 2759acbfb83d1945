"""`arena bench retrieval` and `arena bench index`: engines on synthetic points, each trial in a process of its own.

The yardstick is qdrant-client's local mode as its users call it.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from arena.protocols import Embedding, SparseVector
from experiments.bench.made_up import DIMENSION, TERMS, queries, slices
from experiments.bench.process import (
    MUSIQUE,
    MUSIQUE_QUESTIONS,
    Figures,
    Say,
    apart,
    peak_memory_mb,
    seconds,
    timed,
    timings_ms,
)
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
    taken = 0.0
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
        taken += perf_counter() - started
    return taken


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


def run_trial(engine: str, points: int, n: int, batch: int) -> Figures:
    """The figures of one engine in this process; it leaves out what it does not measure.

    `engine`: `edge-exact`, `edge-hnsw` or `local-mode`. `n`: single queries of each mode. `batch`: hybrid queries asked
    in large groups, and again in small ones (0 = none).
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        if engine == LOCAL_MODE:
            figures = measure_local_mode(points, n)
        else:
            figures = _engine_figures(Path(folder) / "shard", engine == "edge-hnsw", points, n, batch)
    return {"engine": engine, "points": points, **figures, "peak_memory_mb": peak_memory_mb()}


def _engine_figures(folder: Path, graph: bool, points: int, n: int, batch: int) -> Figures:
    settings = EngineSettings("edge", search="hnsw" if graph else "exact")
    figures: Figures = {"build_seconds": _build(folder, points, settings)}
    engine, opened = timed(lambda: ENGINES["edge"].load(folder, settings=settings))
    with closing(engine):
        figures["reopen_seconds"] = opened + seconds(engine.count)
        asked = queries(points, max(n, 1), SEED)
        figures |= timings_ms(lambda i: engine.dense(asked.dense[i : i + 1], K), n, "dense")
        figures |= timings_ms(lambda i: _ask_hybrid(engine, asked, i, i + 1), n, "hybrid")
        if graph and n:
            figures["recall_at_10"] = engine.measure_recall(queries(points, RECALL_QUERIES, SEED).dense, K)
        if batch:
            grouped = queries(points, batch, SEED)
            figures["batch_queries"] = batch
            figures["batch_seconds"] = seconds(lambda: _ask_hybrid(engine, grouped, 0, batch, GROUP))
            small = seconds(lambda: _ask_hybrid(engine, grouped, 0, batch, SMALL_GROUP))
            figures[f"batch_of_{SMALL_GROUP}_seconds"] = small
    return figures


def _build(folder: Path, points: int, settings: EngineSettings) -> float:
    """Seconds in the engine only: making the vectors does not count, as embedding would not."""
    engine, taken = timed(lambda: ENGINES["edge"].create(folder, DIMENSION, settings=settings))
    for positions, embedding in slices(points, SEED):
        taken += seconds(partial(engine.add, positions, embedding))
    return taken + seconds(engine.flush) + seconds(engine.close)  # a flush builds the graph, where there is one


def _ask_hybrid(engine: Engine, asked: Embedding, start: int, end: int, group: int = 1) -> None:
    """The queries from `start` to `end`, `group` in a call."""
    for at in range(start, end, group):
        engine.hybrid(asked.dense[at : at + group], asked.sparse[at : at + group], depth=DEPTH)


SIZES = (5_000, 21_100, 100_000)
LOCAL_MODE_MOST = MUSIQUE  # points; beyond, one query takes seconds
LOCAL_MODE_QUERIES = 10


def measure_retrieval(points: Sequence[int] = SIZES, *, queries: int = 100, say: Say = lambda line: None) -> Figures:
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
            trials.append(apart(run_trial, engine, size, asked, batch))
    p50s = {
        mode: {(one["engine"], one["points"]): one[f"{mode}_p50_ms"] for one in trials} for mode in ("dense", "hybrid")
    }
    return {
        "settings": {**SETTINGS, "queries": queries, "batch": MUSIQUE_QUESTIONS},
        "trials": trials,
        "times_faster_than_local_mode": _ratios(p50s["hybrid"]),
        "growth": _growth(p50s),
    }


def _ratios(hybrid: Mapping[tuple[str, int], float]) -> Figures:
    return {str(size): hybrid[one, size] / hybrid["edge-exact", size] for one, size in hybrid if one == LOCAL_MODE}


def _growth(p50s: Mapping[str, Mapping[tuple[str, int], float]]) -> Figures:
    sizes = [size for p50 in p50s.values() for _, size in p50]
    least, most = min(sizes), max(sizes)
    growth: Figures = {"points": most / least}
    for mode, p50 in p50s.items():
        growth |= {f"{one} {mode}": p50[one, most] / p50[one, least] for one, size in p50 if size == most}
    return growth


def measure_index(points: Sequence[int] = SIZES, *, say: Say = lambda line: None) -> Figures:
    """Build and reopen seconds and peak memory of each engine at each size, each in a process of its own.

    `say` hears of each trial before it starts. On two idle cores the defaults take some 6 minutes, most of it
    for the graph of 100,000 points, and `points=(5_000, 21_100)` one.
    """
    trials = []
    for size in points:
        for engine in EDGE:
            say(f"{engine} with {size:,} points")
            trials.append(apart(run_trial, engine, size, 0, 0))
    return {"settings": SETTINGS, "trials": trials}
