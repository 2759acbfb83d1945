"""`arena bench runner`: what a run adds to the calls it makes, and what continuing a large one costs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import perf_counter

from arena.config import EmbeddingConfig, LLMSettings, RunConfig
from arena.runner import plan_keys
from arena.store import RunStore
from experiments.benches.resume_scan import measure_resume
from experiments.benches.stopwatch import Figures
from experiments.manifests.manifest import new_manifest
from experiments.runs.asking import complete
from experiments.setup.prepared import Prepared, prepare
from experiments.terminal.console import Console
from experiments.terminal.progress import Reporter

Say = Callable[[str], None]

DATASET = "world:1920:7"
"""1,920 documents and 480 questions; two modes make 960 answers."""
LATENCY_SECONDS = 0.2
QUICK, SLOW = 8, 16
"""Questions in flight, with calls that take no time and with slow ones."""
_REPEATS = 3


def measure_runner(
    records: int = 100_000,
    *,
    dataset: str = DATASET,
    embedding: EmbeddingConfig | None = None,
    say: Say = lambda line: None,
) -> Figures:
    """Throughput, efficiency, and what continuing a run of `records` costs (`experiments.benches.resume_scan`).

    `questions_per_second`: vanilla over dense and hybrid retrieval from the embedded index, queries embedded before,
    with a model that takes no time, at concurrency 8; the median of three runs, each with its folder and journal.
    `efficiency`: the same at concurrency 16 with calls of 200 ms, the ideal wall time (all calls, 16 at once) over the
    measured one. `embedding`: None = the default model.
    """
    say(f"preparing {dataset}")
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        base = RunConfig(
            dataset=dataset,
            strategies=("vanilla",),
            modes=("dense", "hybrid"),
            embedding=embedding or EmbeddingConfig(),
            runs_dir=Path(folder),
            mlflow=False,
        )
        figures = _throughput(base, say) | _efficiency(base, say)
    say(f"continuing a run of {records:,} records")
    return figures | measure_resume(records)


def _throughput(base: RunConfig, say: Say) -> Figures:
    with closing(_prepared(base, QUICK, 0.0)) as prepared:
        answers = len(plan_keys(prepared.seats))
        _seconds(prepared, "first")
        say(f"{answers} answers without latency, {_REPEATS} times")
        taken = sorted(_seconds(prepared, f"quick{number}") for number in range(_REPEATS))
    return {"answers": answers, "concurrency": QUICK, "questions_per_second": answers / taken[_REPEATS // 2]}


def _efficiency(base: RunConfig, say: Say) -> Figures:
    with closing(_prepared(base, SLOW, LATENCY_SECONDS)) as prepared:
        answers = len(plan_keys(prepared.seats))
        say(f"{answers} answers with calls of {1e3 * LATENCY_SECONDS:.0f} ms, {SLOW} at once")
        wall = _seconds(prepared, "slow")
    ideal = answers * LATENCY_SECONDS / SLOW
    return {"slow_concurrency": SLOW, "wall_seconds": wall, "ideal_seconds": ideal, "efficiency": ideal / wall}


def _prepared(base: RunConfig, concurrency: int, latency_seconds: float) -> Prepared:
    script = base.runs_dir / f"script{concurrency}.json"
    script.write_text(json.dumps({"latency_seconds": latency_seconds, "rules": [{"reply": "Oster"}]}))
    llm = LLMSettings(model=f"fake:{script}", concurrency=concurrency)
    return prepare(base.model_copy(update={"llm": llm, "concurrency": concurrency}), _silent())


def _seconds(prepared: Prepared, run_id: str) -> float:
    """Seconds from before the model is opened until every answer is on disk."""
    store = RunStore(prepared.config.runs_dir / run_id)
    manifest = new_manifest(prepared, "2026-01-01T00:00:00+00:00")
    started = perf_counter()
    complete(prepared, store, lambda: store.creating(manifest, prepared.plan), _silent())
    return perf_counter() - started


def _silent() -> Reporter:
    return Reporter(Console(stderr=True), quiet=True)
