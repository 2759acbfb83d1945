"""One engine at one size, measured here: `python -m experiments.benches.retrieval_trial TRIAL` (JSON in and out).

A trial has a process of its own, so that its peak of memory is nobody else's.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

from arena.protocols import Embedding
from experiments.benches.local_mode import measure_local_mode
from experiments.benches.peak_memory import peak_memory_mb
from experiments.benches.stopwatch import Figures, timings_ms
from experiments.benches.synthetic_points import DIMENSION, TERMS, queries, slices
from indexing.engines import ENGINES, Engine
from indexing.engines.ranking import RRF_K, EngineSettings

EDGE = ("edge-exact", "edge-hnsw")
LOCAL_MODE = "local-mode"
K = 10
DEPTH = 50
SETTINGS: Figures = {"dimension": DIMENSION, "terms_per_point": TERMS, "k": K, "depth": DEPTH, "rrf_k": RRF_K}
GROUP = 256  # queries of one engine call in the batch
SMALL_GROUP = 8  # as many as wait together at the default concurrency
RECALL_QUERIES = 200


@dataclass(frozen=True, slots=True)
class Trial:
    """What to measure. `engine`: `edge-exact`, `edge-hnsw` or `local-mode`; `queries`: single ones of each mode.

    `batch`: hybrid queries asked in large groups, and again in small ones (0 = none).
    """

    engine: str
    points: int
    queries: int
    batch: int
    seed: int


def run_apart(trial: Trial) -> Figures:
    """The figures of a trial in a new process."""
    command = [sys.executable, "-m", "experiments.benches.retrieval_trial", json.dumps(asdict(trial))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: Figures = json.loads(done.stdout)
    return figures


def run_trial(trial: Trial) -> Figures:
    """The figures of a trial; it leaves out what it does not measure."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        if trial.engine == LOCAL_MODE:
            figures = measure_local_mode(trial.points, trial.queries, trial.seed, k=K, depth=DEPTH, rrf_k=RRF_K)
        else:
            figures = _engine_figures(trial, Path(folder) / "shard")
    return {"engine": trial.engine, "points": trial.points, **figures, "peak_memory_mb": peak_memory_mb()}


def _engine_figures(trial: Trial, folder: Path) -> Figures:
    graph = trial.engine == "edge-hnsw"
    settings = EngineSettings("edge", search="hnsw" if graph else "exact")
    build = _build(folder, trial, settings)
    started = perf_counter()
    engine = ENGINES["edge"].load(folder, settings=settings)
    engine.count()
    reopen = perf_counter() - started
    try:
        asked = queries(trial.points, max(trial.queries, 1), trial.seed)
        figures = {**build, "reopen_seconds": reopen}
        figures |= timings_ms(lambda i: engine.dense(asked.dense[i : i + 1], K), trial.queries, "dense")
        figures |= timings_ms(lambda i: _hybrid(engine, asked, i, i + 1), trial.queries, "hybrid")
        if graph and trial.queries:
            sample = queries(trial.points, RECALL_QUERIES, trial.seed).dense
            figures["recall_at_10"] = engine.measure_recall(sample, K)
        figures |= _batch_figures(engine, trial)
    finally:
        engine.close()
    return figures


def _build(folder: Path, trial: Trial, settings: EngineSettings) -> Figures:
    """Seconds in the engine only: making the vectors does not count, as embedding would not."""
    started = perf_counter()
    engine = ENGINES["edge"].create(folder, DIMENSION, settings=settings)
    store = perf_counter() - started
    for positions, embedding in slices(trial.points, trial.seed):
        started = perf_counter()
        engine.add(positions, embedding)
        store += perf_counter() - started
    started = perf_counter()
    engine.flush()  # and builds the graph, where there is one
    engine.close()
    return {"build_seconds": store + perf_counter() - started}


def _batch_figures(engine: Engine, trial: Trial) -> Figures:
    if not trial.batch:
        return {}
    asked = queries(trial.points, trial.batch, trial.seed)
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


if __name__ == "__main__":
    print(json.dumps(run_trial(Trial(**json.loads(sys.argv[1])))))  # noqa: T201
