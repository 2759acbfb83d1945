"""Continuing, extending and mending runs: what is there is kept, and nothing is mixed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from arena.store import RunStore
from tests.integration.conftest import Arena, Done
from tests.integration.test_run import journal, timeless
from tests.unit.llm.chat_server import Play, completion, failure, serving

USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}


def resume(arena: Arena, tmp_path: Path, *options: str) -> Done:
    return arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs", *options)


def board(folder: Path) -> Any:
    content = json.loads((folder / "leaderboard.json").read_text(encoding="utf-8"))
    return timeless({key: value for key, value in content.items() if key != "run_id"})


def lines(folder: Path) -> set[bytes]:
    return set((folder / "records.jsonl").read_bytes().splitlines())


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (("--strategies", "closed_book"), ("--strategies", "closed_book,vanilla")),
        (("--modes", "dense"), ("--modes", "dense,hybrid")),
        (("--ids", "q1,q3"), ("--ids", "q1,q2,q3")),
    ],
    ids=["strategies", "modes", "questions"],
)
def test_a_finished_run_is_given_more_and_keeps_what_it_has(
    arena: Arena, study: Path, tmp_path: Path, less: tuple[str, str], more: tuple[str, str]
) -> None:
    study.write_text(study.read_text() + "strategies: [vanilla]\nmodes: [dense]\n")
    assert arena("run", study, "--run-id", "r1", *less).code == 0
    assert arena("run", study, "--run-id", "whole", *more).code == 0
    folder, whole = tmp_path / "runs" / "r1", tmp_path / "runs" / "whole"
    before, started = lines(folder), RunStore.open(folder).manifest()["started"]
    done = resume(arena, tmp_path, *more)
    assert done.code == 0, done.err
    assert before < lines(folder)
    assert journal(folder) == journal(whole)
    assert board(folder) == board(whole)
    manifest = RunStore.open(folder).manifest()
    assert (manifest["status"], manifest["started"], len(manifest["sessions"])) == ("finished", started, 2)
    assert all(session["finished"] and session["seconds"] > 0 for session in manifest["sessions"])


def test_a_kill_while_a_run_is_given_more_is_continued_without_saying_again_what(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    """A folder in the way of the plan's new file stands for the kill: the manifest is written, the plan is not."""
    study.write_text(study.read_text() + "strategies: [vanilla]\nmodes: [dense]\n")
    assert arena("run", study, "--run-id", "r1", "--ids", "q1,q3").code == 0
    store = RunStore.open(tmp_path / "runs" / "r1")
    in_the_way = store.folder / ".plan.json.part"
    in_the_way.mkdir()
    assert resume(arena, tmp_path, "--ids", "q1,q2,q3").code == 2
    assert (store.manifest()["status"], len(store.plan().keys())) == ("stopped", 2)
    in_the_way.rmdir()
    done = resume(arena, tmp_path)
    assert done.code == 0, done.err
    assert [question for _, question in sorted(store.done())] == ["q1", "q2", "q3"]


@pytest.mark.parametrize(
    ("option", "value", "lost"),
    [
        ("--strategies", "vanilla", "cell closed_book/none/"),
        ("--modes", "hybrid", "cell vanilla/dense/"),
        ("--ids", "q1,q2", "1 questions of vanilla/dense/"),
    ],
)
def test_a_smaller_plan_is_refused_with_what_would_be_lost(
    arena: Arena, study: Path, tmp_path: Path, option: str, value: str, lost: str
) -> None:
    study.write_text(study.read_text() + "strategies: [vanilla, closed_book]\nmodes: [dense]\n")
    assert arena("run", study, "--run-id", "r1", "--ids", "q1,q3").code == 0
    folder = tmp_path / "runs" / "r1"
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    done = resume(arena, tmp_path, option, value)
    assert (done.code, lost in done.err) == (2, True), done.err
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


@contextmanager
def sick_server(study: Path, sick: list[bool]) -> Iterator[None]:
    """A provider that refuses questions about a school while it is `sick`; the study asks it, one at a time."""

    def react(body: object) -> Play:
        return failure(400) if sick[0] and "school" in json.dumps(body).lower() else completion("ok", USAGE)

    with serving(reaction=react) as server:
        llm = f"llm: {{model: m, base_url: '{server.base_url}', max_attempts: 1, cache: false}}"
        settings = study.read_text().replace("llm: {model: 'fake:'}", llm)
        study.write_text(f"{settings}strategies: [closed_book]\nmax_failure_share: 1\n")
        yield


def test_failures_are_asked_again_and_count_in_the_ledger_alone(arena: Arena, study: Path, tmp_path: Path) -> None:
    sick = [True]
    with sick_server(study, sick):
        assert arena("run", study, "--run-id", "r1").code == 0
        store = RunStore.open(tmp_path / "runs" / "r1")
        first = list(store.failed())
        assert len(first) == 1
        unchanged = arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs")
        assert "nothing is left to ask" in unchanged.err
        sick[0] = False
        done = arena("run", "--retry-failed", "--run-id", "r1", "--runs-dir", tmp_path / "runs")
        assert done.code == 0, done.err
    outcomes = [record.outcome for record in store.records()]
    assert outcomes == ["answered"] * 5
    assert [(old.cell.key, old.question_id) for old in store.superseded()] == first
    calls = [json.loads(line) for line in (store.folder / "calls.jsonl").read_text().splitlines()]
    assert len(calls) == 6
    assert [call["superseded"] for call in calls if "superseded" in call] == [True]
    asked = store.read_table("scores.parquet", ["cell", "question_id", "metric"])
    places = list(zip(*asked.values(), strict=True))
    assert len(places) == len(set(places))


def test_what_fails_again_has_one_record_and_two_entries_in_the_ledger(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    with sick_server(study, [True]):
        assert arena("run", study, "--run-id", "r1").code == 0
        assert arena("run", "--retry-failed", "--run-id", "r1", "--runs-dir", tmp_path / "runs").code == 0
    store = RunStore.open(tmp_path / "runs" / "r1")
    assert len(store.failed()) == len(list(store.superseded())) == 1
    assert sum(record.outcome == "failed" for record in store.records()) == 1


def test_a_folder_deleted_while_the_run_goes_on_ends_it_with_a_message(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "r1"
    asked = []

    def react(body: object) -> Play:
        asked.append(body)
        if len(asked) == 3:
            shutil.rmtree(folder)
        return completion("ok", USAGE)

    with serving(reaction=react) as server:
        llm = f"llm: {{model: m, base_url: '{server.base_url}', cache: false}}"
        settings = study.read_text().replace("llm: {model: 'fake:'}", llm)
        study.write_text(f"{settings}strategies: [closed_book]\nconcurrency: 1\n")
        done = arena("run", study, "--run-id", "r1")
    assert (done.code, "was deleted while the run went on" in done.err) == (2, True), done.err
    assert "start a new run" in done.err
    assert "--resume" not in done.err
    assert "Traceback" not in done.err
    assert len(asked) < 6
    assert not folder.exists()


def test_a_run_that_another_process_writes_is_left_alone(arena: Arena, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text() + "strategies: [closed_book]\n")
    assert arena("run", study, "--run-id", "r1").code == 0
    folder = tmp_path / "runs" / "r1"
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with RunStore.open(folder).holding():
        done = resume(arena, tmp_path, "--strategies", "closed_book,oracle")
    assert (done.code, "being written by another process" in done.err) == (2, True), done.err
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    taken = arena("run", study, "--run-id", "r1")
    assert (taken.code, "continue it with --resume" in taken.err) == (2, True), taken.err
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_lines_of_another_run_are_never_taken_for_this_ones(arena: Arena, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text() + "strategies: [closed_book]\n")
    for run_id, seed in (("r1", "0"), ("r2", "1")):
        assert arena("run", study, "--run-id", run_id, "--seed", seed).code == 0
    theirs, ours = tmp_path / "runs" / "r2" / "records.jsonl", tmp_path / "runs" / "r1" / "records.jsonl"
    ours.write_bytes(theirs.read_bytes())
    done = resume(arena, tmp_path)
    assert (done.code, "line 1: mixed in from another configuration" in done.err) == (2, True), done.err


def test_a_run_of_an_earlier_version_is_named_as_one(arena: Arena, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text() + "strategies: [closed_book]\n")
    assert arena("run", study, "--run-id", "r1").code == 0
    store = RunStore.open(tmp_path / "runs" / "r1")
    store.write_manifest(store.manifest() | {"schema_version": 1})
    done = resume(arena, tmp_path)
    assert (done.code, "was begun by another version" in done.err) == (2, True), done.err


def test_warnings_of_every_session_are_in_the_manifest(arena: Arena, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text() + "strategies: [vanilla]\nmodes: [dense]\n")
    done = arena("run", study, "--run-id", "r1")
    warned = [line.removeprefix("warning: ") for line in done.err.splitlines() if line.startswith("warning: ")]
    assert warned
    assert set(warned) <= set(RunStore.open(tmp_path / "runs" / "r1").manifest()["warnings"])
