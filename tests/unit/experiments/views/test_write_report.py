from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from arena.datasets import load_dataset
from arena.errors import RunStoreError
from arena.plan import PlannedCell, RunPlan, Shard
from arena.store import LEADERBOARD, REPORT, RUNNING, RunStore
from experiments.execution.scoring import conclude_run
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from experiments.views.report import fidelity_cards, page_source, report_of, reproduction, write_report
from tests.integration.finished_run import small_records
from tests.unit.experiments.made_runs import made_run


@pytest.fixture
def reporter() -> Reporter:
    return Reporter(Console(file=StringIO()))


@pytest.fixture
def store(tmp_path: Path, jsonl_folder: Path, reporter: Reporter) -> RunStore:
    spec = f"jsonl:{jsonl_folder}"
    made = made_run(tmp_path / "r1", spec, load_dataset(spec), small_records())
    conclude_run(made, reporter)
    return made


def test_the_page_lies_in_the_run_folder(store: RunStore, reporter: Reporter) -> None:
    before = {path.name for path in store.folder.iterdir()}
    page = write_report(store.folder, None, reporter)
    assert page == store.folder / REPORT
    assert {path.name for path in store.folder.iterdir()} - before == {REPORT}
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_same_run_gives_the_same_page(store: RunStore, reporter: Reporter, tmp_path: Path) -> None:
    first, second = (write_report(store.folder, tmp_path / f"{name}.html", reporter) for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert not (store.folder / REPORT).exists()


def test_a_page_that_cannot_be_written_names_its_place(store: RunStore, reporter: Reporter, tmp_path: Path) -> None:
    with pytest.raises(RunStoreError, match=r"cannot write .*nowhere"):
        write_report(store.folder, tmp_path / "nowhere" / "page.html", reporter)


def test_an_unfinished_run_shows_what_there_is(tmp_path: Path, jsonl_folder: Path, reporter: Reporter) -> None:
    spec = f"jsonl:{jsonl_folder}"
    going_on = made_run(tmp_path / "r2", spec, load_dataset(spec), small_records()[:4], status=RUNNING)
    page = write_report(going_on.folder, None, reporter)
    assert "This run is not finished" in page.read_text(encoding="utf-8")
    assert not (going_on.folder / LEADERBOARD).exists()
    assert "is not finished" in reporter.warnings[0]


def test_a_run_without_a_record_makes_a_page(tmp_path: Path, jsonl_folder: Path, reporter: Reporter) -> None:
    spec = f"jsonl:{jsonl_folder}"
    empty = made_run(tmp_path / "r3", spec, load_dataset(spec), [], status=RUNNING)
    assert "No question has an answer yet." in write_report(empty.folder, None, reporter).read_text(encoding="utf-8")


def test_files_of_an_older_version_are_scored_anew_and_left(store: RunStore, reporter: Reporter) -> None:
    board = json.loads(store.leaderboard_json())
    del board["planes"]
    store.write_leaderboard(json.dumps(board))
    assert page_source(store, reporter).board.planes is not None
    assert "planes" not in json.loads(store.leaderboard_json())


def test_every_installed_strategy_has_its_card(store: RunStore, reporter: Reporter) -> None:
    source = page_source(store, reporter)
    assert [card.strategy for card in source.cards] == ["vanilla", "corrective"]
    assert source.cards[1].clauses
    gone = source.board.cells[0].model_copy(update={"strategy": "not_installed"})
    assert fidelity_cards(source.board.model_copy(update={"cells": [gone]})) == ()


def test_the_commands_to_make_it_again_name_the_commit(store: RunStore) -> None:
    known = {"git": {"commit": "abc123"}, "libraries": {"rag-strategy-arena": "0.1.0"}}
    commands = reproduction(store, known | {"identity": {}})
    assert commands[0] == "git checkout abc123"
    assert commands[1].startswith("arena run settings.json")
    assert commands[-1] == "arena report runs/r1"

    imported = {"config": {"dataset": "jsonl:my data"}, "identity": {"contestants": {"mine": {"imported": "0" * 64}}}}
    assert reproduction(store, known | imported)[1].startswith("arena import FILE ... --dataset 'jsonl:my data'")


def test_a_report_that_fails_loses_nothing(store: RunStore, reporter: Reporter) -> None:
    (store.folder / REPORT).mkdir()
    assert report_of(store, reporter) is None
    assert "the run folder has everything" in reporter.warnings[-1]


def test_a_shard_has_no_page_of_its_own(store: RunStore, reporter: Reporter) -> None:
    plan = store.plan()
    cells = tuple(PlannedCell(one.cell, one.question_ids) for one in plan.cells)
    with store.holding():
        store.write_plan(RunPlan(cells, shard=Shard(1, 2)))
    assert report_of(store, reporter) is None
    assert reporter.warnings == []
