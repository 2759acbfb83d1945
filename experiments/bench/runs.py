"""`arena bench runner`, `scoring` and `report`: what a run adds to the calls it makes, and what its results take.

`runner` also measures what continuing a large run costs before the first question. `scoring` goes from a journal to its
leaderboard without any model; `report` writes the page of a large run.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from contextlib import closing
from itertools import combinations, islice
from pathlib import Path
from time import perf_counter

import numpy as np

from arena.config import EmbeddingConfig, LLMSettings, RunConfig
from arena.leaderboard.metrics import columns_of_scores
from arena.plan import PlannedCell, RunPlan
from arena.runner import plan_keys
from arena.scoring import ScoreTable
from arena.statistics.intervals import draw_resamples
from arena.statistics.significance import paired_permutation
from arena.store import FINISHED, MANIFEST, RECORDS, RunStore
from arena.store.journal import RECORD_LINES, encode, entries
from arena.types import Cell, Dataset, RunRecord
from experiments.bench.made_up import synthetic_records, synthetic_world
from experiments.bench.process import (
    MUSIQUE_QUESTIONS,
    Figures,
    Say,
    apart,
    efficiency,
    peak_memory_mb,
    scripted,
    seconds,
    silent,
    timed,
)
from experiments.execution.asking import complete
from experiments.execution.manifest import new_manifest
from experiments.execution.prepare import Prepared, prepare
from experiments.execution.scoring import board_of, conclude_run, open_past_run, score_run, write_conclusion
from experiments.views.report import write_report

_CELLS = 12
_STARTED = "2026-01-01T00:00:00+00:00"


def measure_resume(records: int) -> Figures:
    """Figures of a run of so many records and, with `_tenth` at their names' ends, of its first tenth.

    `resume_seconds`: what is done is looked up and the journal opened for writing. `stream_seconds`: every record is
    read once. `peak_memory_mb` is that of a process that does both, libraries included. `raw_read_seconds`: the bare
    lines of the same file, to compare.
    """
    world = synthetic_world(-(-records // _CELLS))
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        whole, tenth = Path(folder) / "whole", Path(folder) / "tenth"
        for run, n in ((whole, records), (tenth, records // 10)):
            run.mkdir()
            manifest = {"status": "stopped", "started": _STARTED, "config": {}, "identity": {}}
            (run / MANIFEST).write_text(json.dumps(manifest))
            _write_journal(run, islice(synthetic_records(world), n))
        figures: Figures = {"records": records, "journal_mb": (whole / RECORDS).stat().st_size / 1e6}
        figures |= apart(scan, str(whole))
        return figures | {f"{name}_tenth": value for name, value in apart(scan, str(tenth)).items()}


def _write_journal(folder: Path, records: Iterable[RunRecord]) -> dict[str, Cell]:
    """Cell key -> cell of all that was written."""
    cells: dict[str, Cell] = {}
    with (folder / RECORDS).open("wb") as journal:
        for record in records:
            cells.setdefault(record.cell.key, record.cell)
            journal.write(encode(record, RECORD_LINES))
    return cells


def scan(folder: str) -> Figures:
    """What `measure_resume` says of one run, in this process."""
    store = RunStore(Path(folder))
    with store.records_path.open("rb") as file:
        lines, raw = timed(lambda: sum(1 for _ in file))
    started = perf_counter()
    done = store.done()
    with store.writing():
        resumed = perf_counter() - started
    read, streamed = timed(lambda: sum(1 for _ in entries(store.records_path, RECORD_LINES)))
    assert len(done) == read == lines
    taken: Figures = {"raw_read_seconds": raw, "resume_seconds": resumed, "stream_seconds": streamed}
    return taken | {"peak_memory_mb": peak_memory_mb()}


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
    """Throughput, efficiency, and what continuing a run of `records` costs (`experiments.bench.runs`).

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
        answers = len(plan_keys(prepared.contestants))
        _seconds(prepared, "first")
        say(f"{answers} answers without latency, {_REPEATS} times")
        taken = sorted(_seconds(prepared, f"quick{number}") for number in range(_REPEATS))
    return {"answers": answers, "concurrency": QUICK, "questions_per_second": answers / taken[_REPEATS // 2]}


def _efficiency(base: RunConfig, say: Say) -> Figures:
    with closing(_prepared(base, SLOW, LATENCY_SECONDS)) as prepared:
        answers = len(plan_keys(prepared.contestants))
        say(f"{answers} answers with calls of {1e3 * LATENCY_SECONDS:.0f} ms, {SLOW} at once")
        wall = _seconds(prepared, "slow")
    return {"slow_concurrency": SLOW} | efficiency(wall, answers * LATENCY_SECONDS / SLOW)


def _prepared(base: RunConfig, concurrency: int, latency_seconds: float) -> Prepared:
    script = base.runs_dir / f"script{concurrency}.json"
    model = scripted(script, {"reply": "Oster"}, latency_seconds=latency_seconds)
    llm = LLMSettings(model=model, concurrency=concurrency)
    return prepare(base.model_copy(update={"llm": llm, "concurrency": concurrency}), silent())


def _seconds(prepared: Prepared, run_id: str) -> float:
    """Seconds from before the model is opened until every answer is on disk."""
    store = RunStore(prepared.config.runs_dir / run_id)
    manifest = new_manifest(prepared, _STARTED)
    return seconds(lambda: complete(prepared, store, lambda: store.creating(manifest, prepared.plan), silent()))


RESAMPLES = 10_000


def measure_scoring(questions: int = MUSIQUE_QUESTIONS, *, say: Say = lambda line: None) -> Figures:
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
        figures = apart(scoring_figures, str(store.folder), questions)
    return {"questions": questions, "journal_mb": size_mb, **figures}


def scoring_figures(folder: str, questions: int) -> Figures:
    """The figures of `measure_scoring`, of the run in `folder`, taken in this process."""
    dataset, config = synthetic_world(questions), RunConfig()
    figures: Figures = {"before_mb": peak_memory_mb()}
    run = open_past_run(RunStore.open(Path(folder)), dataset, config)
    figures["records"], figures["read_seconds"] = timed(lambda: sum(1 for _ in run.store.records()))
    table, figures["score_seconds"] = timed(lambda: score_run(run))
    figures["score_peak_mb"] = peak_memory_mb()
    board, figures["leaderboard_seconds"] = timed(lambda: board_of(run, table))
    figures["write_seconds"] = seconds(lambda: write_conclusion(run.store, table, board))
    return figures | _comparing(table, dataset) | {"peak_memory_mb": peak_memory_mb()}


def _comparing(table: ScoreTable, dataset: Dataset) -> Figures:
    """Resampling alone: all pairs of cells on answer F1."""
    values = [columns_of_scores(cell).values("answer_f1") for cell in table.cells]
    differences = np.column_stack([a - b for a, b in combinations(values, 2)])
    strata = [(one.kind, one.hops) for one in sorted(dataset.questions, key=lambda one: one.question_id)]
    return {
        "pairs": differences.shape[1],
        "bootstrap_seconds": seconds(
            lambda: draw_resamples(strata, np.random.default_rng(0), RESAMPLES).means(differences)
        ),
        "permutation_seconds": seconds(lambda: paired_permutation(differences, np.random.default_rng(0), RESAMPLES)),
    }


def made_up_run(folder: Path, questions: int) -> RunStore:
    """The folder of a finished run that nobody ran."""
    folder.mkdir()
    dataset, store = synthetic_world(questions), RunStore(folder)
    cells = _write_journal(folder, synthetic_records(dataset))
    asked = tuple(question.question_id for question in dataset.questions)
    store.write_plan(RunPlan(tuple(PlannedCell(cell, asked) for cell in cells.values())))
    store.write_manifest(
        {
            "status": FINISHED,
            "started": _STARTED,
            "fingerprint": "run_made_up",
            "config": RunConfig().model_dump(mode="json"),
            "identity": {"dataset": dataset.fingerprint},
        }
    )
    return store


def measure_report(questions: int = MUSIQUE_QUESTIONS, *, say: Say = lambda line: None) -> Figures:
    """Seconds, peak memory and size of the page of twelve cells on `questions` questions, in a process of its own.

    The run is scored before, and its data are at hand: both are measured by other benchmarks.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        say(f"a run of {questions:,} questions in twelve cells")
        store = made_up_run(Path(folder) / "run", questions)
        say("scoring it")
        conclude_run(store, silent(), dataset=synthetic_world(questions), config=RunConfig())
        say("writing its page")
        return {"questions": questions, **apart(report_figures, str(store.folder), questions)}


def report_figures(folder: str, questions: int) -> Figures:
    """The figures of `measure_report`, of the run in `folder`, taken in this process."""
    dataset = synthetic_world(questions)
    figures: Figures = {"before_mb": peak_memory_mb()}
    page, figures["report_seconds"] = timed(lambda: write_report(Path(folder), None, silent(), dataset=dataset))
    return figures | {"page_mb": page.stat().st_size / 1e6, "peak_memory_mb": peak_memory_mb()}
