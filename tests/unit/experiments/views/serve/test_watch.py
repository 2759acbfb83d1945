from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arena.datasets import load_dataset
from arena.plan import PlannedCell, RunPlan
from arena.store import RunStore
from experiments.views.serve.watch import RunWatch
from tests.samples import answered, cell, failed
from tests.unit.experiments.made_runs import made_run


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def store(tmp_path: Path, jsonl_folder: Path) -> RunStore:
    spec = f"jsonl:{jsonl_folder}"
    records = [answered("q1", "Mirelle Ostrand", ("d1", "d2")), failed("q2")]
    store = made_run(tmp_path / "r1", spec, load_dataset(spec), records, status="running")
    store.write_plan(RunPlan((PlannedCell(cell(), ("q1", "q2", "q3")),)))
    return store


def test_each_look_adds_what_is_new_and_the_newest_of_a_question_counts(store: RunStore) -> None:
    watch = RunWatch(store)
    (first,) = watch.look()
    assert (first.done, first.planned, first.failed, first.tokens) == (2, 3, 1, None)
    with store.writing() as journal:
        journal.append(answered("q2", "1871", ("d1",)))
        journal.append(answered("q3", "I do not know.", ("d4",), abstained=True))
    (second,) = watch.look()
    assert (second.done, second.failed, second.abstained, second.tokens) == (3, 0, 1, 315)


def test_intervals_rest_ten_times_as_long_as_they_took(store: RunStore) -> None:
    """A look takes one second of this clock, and making the figures another."""
    watch = RunWatch(store, Clock())
    (first,) = watch.look()
    with store.writing() as journal:
        journal.append(answered("q3", "Sarn estuary", ("d4",)))
    counts = [watch.look()[0].figures["answer_em"].n for _ in range(12)]
    assert first.figures["answer_em"].n == counts[0] == 1
    assert counts[-1] == 2
    assert counts == sorted(counts)
    assert counts.count(1) == 9


def test_a_run_that_is_given_more_is_counted_anew(store: RunStore) -> None:
    watch = RunWatch(store)
    watch.look()
    store.write_plan(RunPlan((PlannedCell(cell(), ("q1", "q2", "q3")), PlannedCell(cell("corrective"), ("q1",)))))
    assert [(one.strategy, one.done, one.planned) for one in watch.look()] == [("vanilla", 2, 3), ("corrective", 0, 1)]


def test_without_its_data_a_run_has_progress_and_says_why_no_figures(store: RunStore, jsonl_folder: Path) -> None:
    questions = jsonl_folder / "questions.jsonl"
    questions.write_text(questions.read_text().replace("1871", "1872"))
    watch = RunWatch(store)
    (changed,) = watch.look()
    assert (changed.done, changed.figures) == (2, {})
    assert watch.problem is not None
    assert "is not what it was when the run began" in watch.problem
    manifest = store.manifest()
    store.write_manifest(json.loads(json.dumps(manifest).replace("jsonl:", "jsonl:/nowhere")))
    gone = RunWatch(RunStore(store.folder))
    assert replace(gone.look()[0], figures={}) == changed
    assert str(gone.problem).startswith("no figures: ")
