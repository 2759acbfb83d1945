from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import ConfigError, RunStoreError
from arena.store import MANIFEST, RunStore
from arena.store.journal import RECORD_LINES, JournalWriter
from arena.types import Cell, Dataset, Kind, Question, RunRecord
from experiments.studies.strategies.labels import complexity, silver_labels, write_labels
from strategies.adaptive import Label
from strategies.adaptive.params import read_labels
from tests.samples import QUESTIONS, answered, failed

ALONE: Mapping[Label, Cell] = {
    "A": Cell("closed_book", "none", "fake:"),
    "B": Cell("vanilla", "dense", "fake:", {"k": 5}),
    "C": Cell("ircot", "dense", "fake:", {"k": 5}),
}
POLICIES: Mapping[Label, Cell] = {
    "A": Cell("adaptive", "dense", "fake:", {"policy": "always_a"}),
    "B": Cell("adaptive", "dense", "fake:", {"policy": "always_b"}),
    "C": Cell("adaptive", "dense", "fake:", {"policy": "always_c"}),
}
RIGHT = {"q1": "ostrand", "q2": "1871", "q3": "The Sarn estuary", "q4": "Tammerhold is a hill town.", "q5": "nobody"}
TEXT = {question.question_id: question.text for question in QUESTIONS}


def records(right: Mapping[str, str], cells: Mapping[Label, Cell] = ALONE) -> list[RunRecord]:
    """`right`: question -> the labels whose strategy answers it right, as in `BC`."""
    return [
        answered(question_id, RIGHT[question_id] if label in labels else "Mallory", of=cell)
        for question_id, labels in right.items()
        for label, cell in cells.items()
    ]


@pytest.mark.parametrize(
    ("outcomes", "kind", "label"),
    [
        ({"A": True, "B": True, "C": True}, "multi_hop", ("A", "silver")),
        ({"A": False, "B": True, "C": True}, "multi_hop", ("B", "silver")),
        ({"A": False, "B": False, "C": True}, "single_hop", ("C", "silver")),
        ({"A": True, "B": False, "C": False}, "single_hop", ("A", "silver")),
        ({"A": False, "B": False, "C": False}, "single_hop", ("B", "prior")),
        ({"A": False, "B": False, "C": False}, "multi_hop", ("C", "prior")),
        ({"A": False, "B": False, "C": False}, "summary", None),
        ({"A": None, "B": True, "C": True}, "multi_hop", None),
        ({"A": True, "B": None, "C": None}, "multi_hop", ("A", "silver")),
        ({"A": False, "B": False}, "multi_hop", None),
    ],
)
def test_the_simplest_strategy_that_is_right_wins(
    outcomes: Mapping[Label, bool | None], kind: Kind, label: tuple[str, str] | None
) -> None:
    assert complexity(outcomes, kind) == label


@pytest.mark.parametrize("cells", [ALONE, POLICIES], ids=["alone", "policies"])
def test_a_run_is_labelled_by_exact_match_with_aliases(cells: Mapping[Label, Cell], dataset: Dataset) -> None:
    found = silver_labels(records({"q1": "BC", "q2": "ABC", "q3": ""}, cells), dataset)
    assert found.labels == {TEXT["q1"]: "B", TEXT["q2"]: "A", TEXT["q3"]: "B"}
    assert found.by_id == {"q1": ("B", "silver"), "q2": ("A", "silver"), "q3": ("B", "prior")}
    assert found.left_out == 0


def test_summaries_unanswerable_and_failed_questions_have_no_label(dataset: Dataset) -> None:
    run = [*records({"q4": "ABC", "q5": "ABC"}), failed("q1", of=ALONE["A"]), *records({"q1": "BC"})[1:]]
    found = silver_labels(run, dataset)
    assert (found.labels, found.left_out) == ({}, 3)


def test_an_abstention_is_not_right_whatever_it_says(dataset: Dataset) -> None:
    run = [answered("q2", "1871", of=cell, abstained=True) for cell in ALONE.values()]
    assert silver_labels(run, dataset).by_id == {"q2": ("B", "prior")}


def test_cells_of_adaptive_go_before_the_strategies_of_their_own(dataset: Dataset) -> None:
    assert silver_labels([*records({"q1": "A"}), *records({"q1": "C"}, POLICIES)], dataset).labels == {TEXT["q1"]: "C"}


def test_of_several_modes_one_must_be_named(dataset: Dataset) -> None:
    other: dict[Label, Cell] = {label: replace(ALONE[label], retrieval_mode="hybrid") for label in ("B", "C")}
    run = [*records({"q1": ""}), *records({"q1": "B"}, other)]
    with pytest.raises(ConfigError, match=r"2 cells for label B \(vanilla/dense/.*, vanilla/hybrid/"):
        silver_labels(run, dataset)
    assert silver_labels(run, dataset, "hybrid").labels == {TEXT["q1"]: "B"}
    assert silver_labels(run, dataset, "dense").labels == {TEXT["q1"]: "C"}


def test_a_run_without_one_of_the_strategies_says_what_to_run(dataset: Dataset) -> None:
    with pytest.raises(ConfigError, match="no cell for label C: run adaptive:policy=always_a"):
        silver_labels([record for record in records({"q1": "A"}) if record.cell.strategy != "ircot"], dataset)


def test_a_mode_that_the_run_does_not_have_is_named(dataset: Dataset) -> None:
    with pytest.raises(ConfigError, match="no cell for label B in mode 'hybrid'"):
        silver_labels(records({"q1": "A"}), dataset, mode="hybrid")


def test_a_question_of_another_dataset_is_refused(dataset: Dataset) -> None:
    stranger = [replace(record, question_id="q9") for record in records({"q1": "A"})]
    with pytest.raises(RunStoreError, match="'q9' of the run is not in dataset 'small'"):
        silver_labels(stranger, dataset)


@pytest.fixture
def store(tmp_path: Path, dataset: Dataset) -> RunStore:
    store = RunStore(tmp_path / "run")
    store.folder.mkdir()
    known = {"config": {}, "identity": {"dataset": dataset.fingerprint}}
    manifest = {"status": "finished", "started": "2026-01-01T00:00:00+00:00"} | known
    (store.folder / MANIFEST).write_text(json.dumps(manifest))
    with JournalWriter(store.records_path, RECORD_LINES) as writer:
        for record in records({"q1": "C", "q2": "A"}):
            writer.append(record)
    return store


def test_what_is_written_is_what_the_oracle_policy_reads(store: RunStore, dataset: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "labels.json"
    found = write_labels(store, dataset, out)
    assert read_labels(out)[0] == found.labels == {TEXT["q1"]: "C", TEXT["q2"]: "A"}


def test_a_dataset_that_changed_is_refused(store: RunStore, dataset: Dataset, tmp_path: Path) -> None:
    changed = replace(dataset, fingerprint="another")
    with pytest.raises(RunStoreError, match="is not the one that run 'run' was made on"):
        write_labels(store, changed, tmp_path / "labels.json")


def test_a_place_that_cannot_be_written_is_named(store: RunStore, dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="choose another --out"):
        write_labels(store, dataset, tmp_path / "nowhere" / "labels.json")


def test_questions_keep_the_order_of_the_dataset(dataset: Dataset) -> None:
    run = records({"q3": "A", "q1": "A"})
    assert list(silver_labels(run, dataset).labels) == [TEXT["q1"], TEXT["q3"]]


def test_a_question_that_was_not_asked_is_neither_labelled_nor_left_out(dataset: Dataset) -> None:
    more = replace(dataset, questions=(*dataset.questions, Question("q6", "Why?", "multi_hop")))
    assert silver_labels(records({"q1": "A"}), more).left_out == 0
