"""One run asked by several processes, each into a folder of its own, and joined again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from arena.errors import RunStoreError
from arena.store import RunStore
from experiments.execution.merging import MergedRun, merge_runs, missing_text
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from tests.integration.conftest import Arena
from tests.integration.test_run import journal, timeless

OPTIONS = ("--strategies", "retrieval_only,vanilla,closed_book", "--modes", "dense", "--run-id")


def board(folder: Path) -> Any:
    content = json.loads((folder / "leaderboard.json").read_text(encoding="utf-8"))
    return timeless({key: value for key, value in content.items() if key != "run_id"})


def merge(folders: list[Path], into: Path) -> MergedRun:
    return merge_runs(folders, into, Reporter(Console(quiet=True)))


@pytest.fixture
def shards(arena: Arena, study: Path, tmp_path: Path) -> list[Path]:
    return shared(arena, study, tmp_path, 2)


def shared(arena: Arena, study: Path, tmp_path: Path, count: int) -> list[Path]:
    """The folders of a run of `count` shares."""
    for index in range(1, count + 1):
        done = arena("run", study, *OPTIONS, f"s{index}", "--shard", f"{index}/{count}")
        assert done.code == 0, done.err
    return [tmp_path / "runs" / f"s{index}" for index in range(1, count + 1)]


def test_merged_ledgers_of_payments_hold_every_payment_once(
    arena: Arena, study: Path, shards: list[Path], tmp_path: Path
) -> None:
    """That of an earlier version, without a ledger, by what it had spent; and one that was merged before, once."""
    (shards[1] / "paid.jsonl").unlink()
    merged = merge(shards, tmp_path / "runs" / "merged").store
    lone = list(RunStore.open(shards[0]).paid())
    assert [one.purpose for one in merged.paid()] == [*(one.purpose for one in lone), "before"]
    calls = [json.loads(line) for line in (merged.folder / "calls.jsonl").read_text().splitlines()]
    spent = merged.manifest()["spent"]
    assert spent["tokens"] == sum(call["input_tokens"] + call["output_tokens"] for call in calls) > 0
    again = merge([merged.folder, *shards], tmp_path / "runs" / "again").store
    assert list(again.paid()) == list(merged.paid())


def test_merged_shards_are_the_run_that_one_process_would_have_made(arena: Arena, study: Path, tmp_path: Path) -> None:
    shards = shared(arena, study, tmp_path, 3)
    assert arena("run", study, *OPTIONS, "whole").code == 0
    merged = merge(shards, tmp_path / "runs" / "merged")
    assert merged.missing == {}
    assert board(tmp_path / "runs" / "merged") == board(tmp_path / "runs" / "whole")
    assert journal(tmp_path / "runs" / "merged") == journal(tmp_path / "runs" / "whole")
    manifests = [RunStore.open(folder).manifest() for folder in (*shards, tmp_path / "runs" / "merged")]
    assert [one["shard"] for one in manifests] == ["1/3", "2/3", "3/3", None]
    assert len({one["fingerprint"] for one in manifests}) == 1
    assert len(manifests[3]["sessions"]) == 3
    assert sum(one["records"] for one in manifests[3]["merged"]) == 15
    done = arena("run", "--resume", "--run-id", "merged", "--runs-dir", tmp_path / "runs")
    assert (done.code, "nothing is left to ask" in done.err) == (0, True), done.err


def test_what_no_share_holds_is_said_not_scored_and_asked_by_a_continuation(
    arena: Arena, study: Path, tmp_path: Path, shards: list[Path]
) -> None:
    lines = (shards[1] / "records.jsonl").read_bytes().splitlines(keepends=True)
    (shards[1] / "records.jsonl").write_bytes(b"".join(lines[:-2]))
    merged = merge(shards, tmp_path / "runs" / "merged")
    assert merged.board is None
    assert sum(merged.missing.values()) == 2
    assert "2 questions have no record" in missing_text(merged)
    assert not (merged.store.folder / "leaderboard.json").exists()
    assert merged.store.manifest()["status"] == "stopped"
    done = arena("run", "--resume", "--run-id", "merged", "--runs-dir", tmp_path / "runs")
    assert done.code == 0, done.err
    assert len(merged.store.done()) == 15


def test_a_question_two_shares_answered_differently_is_refused_and_an_equal_record_counts_once(
    arena: Arena, study: Path, tmp_path: Path, shards: list[Path]
) -> None:
    again = tmp_path / "elsewhere" / "s1"
    shutil.copytree(shards[0], again)
    assert merge([*shards, again], tmp_path / "runs" / "merged").missing == {}
    assert arena("run", study, *OPTIONS, "other", "--shard", "1/2").code == 0
    with pytest.raises(RunStoreError, match="it was asked twice"):
        merge([*shards, tmp_path / "runs" / "other"], tmp_path / "runs" / "twice")
    assert not (tmp_path / "runs" / "twice").exists()


def test_runs_that_differ_in_settings_or_questions_are_not_merged(
    arena: Arena, study: Path, tmp_path: Path, shards: list[Path]
) -> None:
    for name, value, difference in (
        ("--seed", "3", r"identity\.config\.seed: (0 -> 3|3 -> 0)"),
        ("--ids", "q1,q2", r": '5 questions, ids_|-> '5 questions, ids_"),
    ):
        other = f"other{name}"
        assert arena("run", study, *OPTIONS, other, name, value).code == 0
        with pytest.raises(RunStoreError, match="are no shares of one run") as refused:
            merge([shards[0], tmp_path / "runs" / other], tmp_path / "runs" / "merged")
        assert re.search(difference, str(refused.value))
        assert max(map(len, str(refused.value).split("; "))) < 250
    assert not (tmp_path / "runs" / "merged").exists()


def test_one_folder_twice_and_a_name_that_is_taken_are_refused(tmp_path: Path, shards: list[Path]) -> None:
    with pytest.raises(RunStoreError, match="takes two runs or more"):
        merge([shards[0], shards[0]], tmp_path / "runs" / "merged")
    with pytest.raises(RunStoreError, match="exists in"):
        merge(shards, shards[0])


def test_a_share_that_is_being_written_is_not_merged_yet(tmp_path: Path, shards: list[Path]) -> None:
    with (
        RunStore.open(shards[1]).holding(),
        pytest.raises(RunStoreError, match="run 's2' is being written by another process"),
    ):
        merge(shards, tmp_path / "runs" / "merged")
    assert not (tmp_path / "runs" / "merged").exists()
    assert merge(shards, tmp_path / "runs" / "merged").missing == {}


def test_labels_of_all_shares_are_labels_of_the_whole(arena: Arena, tmp_path: Path, shards: list[Path]) -> None:
    cell = next(one.cell.key for one in RunStore.open(shards[0]).plan().cells if one.cell.strategy == "vanilla")
    for number, folder in enumerate(shards, 1):
        RunStore.open(folder).write_labels(json.dumps({"question_id": f"q{number}", "correct": True, "cell": cell}))
    merged = merge(shards, tmp_path / "runs" / "merged")
    assert len((merged.store.labels_text() or "").splitlines()) == 2


def test_a_shard_is_continued_as_itself(arena: Arena, tmp_path: Path, shards: list[Path]) -> None:
    records = shards[0] / "records.jsonl"
    whole = RunStore.open(shards[0]).done()
    lines = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(lines[1:]))
    there = ("--run-id", "s1", "--runs-dir", tmp_path / "runs")
    refused = arena("run", "--resume", *there, "--shard", "2/2")
    assert (refused.code, "is shard 1/2, not shard 2/2" in refused.err) == (2, True)
    assert arena("run", "--resume", *there).code == 0
    assert RunStore.open(shards[0]).done() == whole


def test_a_share_without_a_question_says_so(arena: Arena, study: Path) -> None:
    codes = {arena("run", study, *OPTIONS, f"s{index}", "--shard", f"{index}/40").code for index in range(1, 7)}
    refused = [arena("run", study, *OPTIONS, f"t{index}", "--shard", f"{index}/40") for index in range(1, 4)]
    assert 2 in codes
    assert any("holds none of the questions" in done.err for done in refused)


def test_a_merge_says_where_it_is_and_writes_the_page(arena: Arena, tmp_path: Path, shards: list[Path]) -> None:
    done = arena("merge", *shards, "--into", "whole")
    folder = tmp_path / "runs" / "whole"
    assert done.code == 0, done.err
    assert f"run folder   {folder}" in done.out
    assert f"report       {folder / 'report.html'}" in done.out
    assert (folder / "report.html").exists()
