"""`arena bench scoring`: what scoring a large run takes, from its journal to its leaderboard, without any model."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from time import perf_counter

import numpy as np

from arena.config import RunConfig
from arena.leaderboard.metrics import columns_of_scores
from arena.plan import PlannedCell, RunPlan
from arena.scoring import ScoreTable
from arena.statistics.intervals import draw_resamples
from arena.statistics.significance import paired_permutation
from arena.store import FINISHED, RunStore
from arena.store.journal import RECORD_LINES, encode
from arena.types import Cell, Dataset
from experiments.benches.peak_memory import peak_memory_mb
from experiments.benches.stopwatch import Figures
from experiments.benches.synthetic_run import synthetic_records, synthetic_world
from experiments.scoring.conclusion import board_of, open_past_run, score_run, write_conclusion

Say = Callable[[str], None]

RESAMPLES = 10_000
_CODE = """
import json, sys
from pathlib import Path
from experiments.benches.scoring import scoring_figures
print(json.dumps(scoring_figures(Path(sys.argv[1]), int(sys.argv[2]))))
"""


def measure_scoring(questions: int = 3_356, *, say: Say = lambda line: None) -> Figures:
    """Seconds and peak memory of scoring twelve cells on `questions` questions, in a process of its own.

    `read_seconds` is reading the journal alone, which is read again inside `score_seconds`: all deterministic metrics,
    failure classes and ledgers. `leaderboard_seconds` has every comparison in it; `bootstrap_seconds` and
    `permutation_seconds` are 10,000 paired resamples and sign flips over all 66 pairs of one metric.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        say(f"a run of {questions:,} questions in twelve cells")
        store = made_up_run(Path(folder) / "run", questions)
        size_mb = store.records_path.stat().st_size / 1e6
        say(f"scoring its {size_mb:,.0f} MB")
        command = [sys.executable, "-c", _CODE, str(store.folder), str(questions)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    measured: Figures = json.loads(done.stdout)
    return {"questions": questions, "journal_mb": size_mb, **measured}


def scoring_figures(folder: Path, questions: int) -> Figures:
    """The figures of `measure_scoring`, of the run in `folder`, taken in this process."""
    dataset, config = synthetic_world(questions), RunConfig()
    figures: Figures = {"before_mb": peak_memory_mb()}
    run = open_past_run(RunStore.open(folder), dataset, config)
    started = perf_counter()
    figures["records"] = sum(1 for _ in run.store.records())
    figures["read_seconds"] = _lap(started)
    started = perf_counter()
    table = score_run(run)
    figures["score_seconds"], figures["score_peak_mb"] = _lap(started), peak_memory_mb()
    started = perf_counter()
    board = board_of(run, table)
    figures["leaderboard_seconds"] = _lap(started)
    started = perf_counter()
    write_conclusion(run.store, table, board)
    figures["write_seconds"] = _lap(started)
    figures |= _comparing(table, dataset)
    figures["peak_memory_mb"] = peak_memory_mb()
    return figures


def _comparing(table: ScoreTable, dataset: Dataset) -> Figures:
    """Resampling alone: all pairs of cells on answer F1."""
    values = [columns_of_scores(cell).values("answer_f1") for cell in table.cells]
    differences = np.column_stack([a - b for a, b in combinations(values, 2)])
    strata = [(one.kind, one.hops) for one in sorted(dataset.questions, key=lambda one: one.question_id)]
    started = perf_counter()
    draw_resamples(strata, np.random.default_rng(0), RESAMPLES).means(differences)
    figures: Figures = {"pairs": differences.shape[1], "bootstrap_seconds": _lap(started)}
    started = perf_counter()
    paired_permutation(differences, np.random.default_rng(0), RESAMPLES)
    return figures | {"permutation_seconds": _lap(started)}


def made_up_run(folder: Path, questions: int) -> RunStore:
    """The folder of a finished run that nobody ran."""
    folder.mkdir()
    dataset, cells = synthetic_world(questions), dict[str, Cell]()
    store = RunStore(folder)
    with store.records_path.open("wb") as journal:
        for record in synthetic_records(dataset):
            cells.setdefault(record.cell.key, record.cell)
            journal.write(encode(record, RECORD_LINES))
    asked = tuple(question.question_id for question in dataset.questions)
    store.write_plan(RunPlan(tuple(PlannedCell(cell, asked) for cell in cells.values())))
    store.write_manifest(
        {
            "status": FINISHED,
            "started": "2026-01-01T00:00:00+00:00",
            "fingerprint": "run_made_up",
            "config": RunConfig().model_dump(mode="json"),
            "identity": {"dataset": dataset.fingerprint},
        }
    )
    return store


def _lap(started: float) -> float:
    return perf_counter() - started
