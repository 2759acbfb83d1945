from __future__ import annotations

import json
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Self

import pyarrow.parquet as pq
import pytest

from arena.leaderboard.build import Leaderboard
from arena.metrics import METRICS
from arena.store.journal import RECORD_LINES, entries
from arena.types import RunRecord
from tests.integration.conftest import Arena

TIMES = {
    "wall_seconds",
    "started_seconds",
    "backoff_seconds",
    "queue_seconds",
    "service_seconds",
    "latency_seconds",
    "latency_quantiles_seconds",
    "mean_service_seconds",
    "seconds",
    "warm_up",
    "n_warm_up",
    "warm_up_seconds",
}


def timeless(value: Any) -> Any:
    """A JSON value without its durations."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in TIMES}
    return [timeless(item) for item in value if not _is_of_time(item)] if isinstance(value, list) else value


def _is_of_time(item: Any) -> bool:
    """Whether it is a plane of leaderboard.json whose cost is time."""
    return isinstance(item, dict) and item.get("cost") == "seconds"


def journal(folder: Path) -> list[Any]:
    lines = (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [timeless(json.loads(line)["record"]) for line in lines]


def test_a_run_leaves_everything_it_promises(arena: Arena, study: Path, tmp_path: Path) -> None:
    done = arena("run", study, "--run-id", "r1")
    assert done.code == 0, done.err
    folder = tmp_path / "runs" / "r1"
    board = Leaderboard.model_validate_json((folder / "leaderboard.json").read_text(encoding="utf-8"))
    assert [(cell.strategy, cell.retrieval_mode, cell.n_questions) for cell in board.cells] == [
        ("retrieval_only", "dense", 5),
        ("retrieval_only", "hybrid", 5),
        ("vanilla", "dense", 5),
        ("vanilla", "hybrid", 5),
        ("closed_book", "none", 5),
        ("oracle", "gold", 4),
    ]
    assert all(cell.n_answered + cell.n_abstained + cell.n_failed == cell.n_questions for cell in board.cells)
    records: list[RunRecord] = list(entries(folder / "records.jsonl", RECORD_LINES))
    assert len(records) == 29
    assert pq.read_table(folder / "scores.parquet").num_rows == 29 * len(METRICS)
    assert len((folder / "calls.jsonl").read_text().splitlines()) == sum(len(record.calls) for record in records) == 19
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["status"], manifest["fingerprint"]) == ("finished", board.fingerprint)
    for cell in board.cells:
        assert cell.strategy in done.out


def test_every_strategy_of_a_mode_gets_the_same_hits_for_the_same_question(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    arena("run", study, "--run-id", "r1")
    hits: dict[tuple[str, str], set[tuple[tuple[str, float], ...]]] = {}
    for record in entries(tmp_path / "runs" / "r1" / "records.jsonl", RECORD_LINES):
        if record.cell.retrieval_mode in {"dense", "hybrid"}:
            found = tuple((hit.passage_id, hit.score) for hit in record.retrievals[0].hits)
            hits.setdefault((record.cell.retrieval_mode, record.question_id), set()).add(found)
    assert len(hits) == 10
    assert all(len(different) == 1 for different in hits.values())


def test_the_same_seed_gives_the_same_journal_and_leaderboard_at_concurrency_1_and_8(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    boards = []
    for concurrency in ("1", "8"):
        assert arena("run", study, "--run-id", f"c{concurrency}", "--concurrency", concurrency).code == 0
        board = json.loads((tmp_path / "runs" / f"c{concurrency}" / "leaderboard.json").read_text())
        boards.append(timeless({key: value for key, value in board.items() if key != "run_id"}))
    assert journal(tmp_path / "runs" / "c1") == journal(tmp_path / "runs" / "c8")
    assert boards[0] == boards[1]


def test_the_oracle_is_shown_exactly_the_gold_and_a_strategy_no_gold(arena: Arena, study: Path, tmp_path: Path) -> None:
    arena("run", study, "--run-id", "r1")
    used = {
        record.question_id: record.answer.used_ids
        for record in entries(tmp_path / "runs" / "r1" / "records.jsonl", RECORD_LINES)
        if record.cell.strategy == "oracle" and record.answer
    }
    assert used == {"q1": ("d1", "d2"), "q2": ("d1",), "q3": ("d4",), "q4": ("d2", "d3")}


def test_json_prints_the_leaderboard_and_nothing_else(arena: Arena, study: Path) -> None:
    done = arena("run", study, "--strategies", "retrieval_only", "--json")
    assert Leaderboard.model_validate_json(done.out).cells[0].strategy == "retrieval_only"
    assert "questions" not in done.err


def test_a_limit_asks_every_cell_the_same_questions(arena: Arena, study: Path, tmp_path: Path) -> None:
    arena("run", study, "--run-id", "r1", "--limit", "2", "--strategies", "retrieval_only,vanilla")
    asked: dict[str, set[str]] = {}
    for record in entries(tmp_path / "runs" / "r1" / "records.jsonl", RECORD_LINES):
        asked.setdefault(record.cell.key, set()).add(record.question_id)
    assert len(asked) == 4
    assert len({frozenset(questions) for questions in asked.values()}) == 1
    assert all(len(questions) == 2 for questions in asked.values())


def test_runs_of_one_second_under_the_same_settings_each_have_a_folder(
    arena: Arena, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.execution.process.datetime", _OneSecond)
    asked = ("--strategies", "vanilla", "--modes", "dense", "--limit", 1, "--no-report")
    for end in ((), (), (), ("--shard", "1/1"), ("--shard", "1/1")):
        assert arena("run", study, *asked, *end).code == 0
    made = {folder.name for folder in (tmp_path / "runs").iterdir() if (folder / "manifest.json").exists()}
    whole, shard = (min(one for one in made if one.endswith(end)) for end in ("", "-1of1"))
    assert made >= {whole, f"{whole}-2", f"{whole}-3", shard, f"{shard.removesuffix('-1of1')}-2-1of1"}
    assert len(made) == 5


class _OneSecond(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2026, 3, 1, 12, tzinfo=tz)


def test_a_stopped_run_continues_to_the_same_journal(arena: Arena, study: Path, tmp_path: Path) -> None:
    arena("run", study, "--run-id", "whole")
    arena("run", study, "--run-id", "cut")
    folder = tmp_path / "runs" / "cut"
    lines = (folder / "records.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "records.jsonl").write_bytes(b"".join(lines[:7]) + lines[7][:100])
    manifest = json.loads((folder / "manifest.json").read_text()) | {"status": "running"}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    done = arena("run", "--resume", "--runs-dir", tmp_path / "runs")
    assert done.code == 0, done.err
    assert "continuing cut" in done.err
    assert journal(folder) == journal(tmp_path / "runs" / "whole")


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [("--seed", "4", "config.seed: 0 -> 4"), ("--limit", "2", "3 questions of retrieval_only/dense/")],
)
def test_a_run_is_not_continued_under_other_settings(
    arena: Arena, study: Path, tmp_path: Path, option: str, value: str, named: str
) -> None:
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    done = arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs", option, value)
    assert done.code == 2
    assert named in done.err


def test_continuing_a_finished_run_asks_nothing_and_changes_nothing(arena: Arena, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text().replace("'fake:'", "'openai:gpt-x'") + "strategies: [retrieval_only]\n")
    arena("run", study, "--run-id", "r1")
    files = sorted((tmp_path / "runs" / "r1").glob("*.json*"))
    before = [file.read_bytes() for file in files]
    done = arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs")
    assert done.code == 0, done.err
    assert "nothing is left to ask" in done.err
    assert [file.read_bytes() for file in files] == before


def test_a_damaged_leaderboard_is_named_with_what_derives_it_anew(arena: Arena, study: Path, tmp_path: Path) -> None:
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    board = tmp_path / "runs" / "r1" / "leaderboard.json"
    whole = board.read_bytes()
    for damage in (b"{}", b"xx", b"\xff"):
        board.write_bytes(damage)
        shown = arena("show", tmp_path / "runs" / "r1")
        assert shown.code == 2
        assert "leaderboard.json" in shown.err
    assert arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs").code == 0
    assert board.read_bytes() == whole


def test_a_finished_run_can_be_shown_again_as_markdown(arena: Arena, study: Path, tmp_path: Path) -> None:
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    shown = arena("show", tmp_path / "runs" / "r1", "--markdown")
    assert shown.out.startswith("| strategy | mode |")
    assert shown.out.count("| retrieval_only |") == 2


def test_a_changed_dataset_stops_a_continuation(arena: Arena, study: Path, tmp_path: Path, jsonl_folder: Path) -> None:
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    corpus = jsonl_folder / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("1871", "1872"))
    done = arena("run", "--resume", "--run-id", "r1", "--runs-dir", tmp_path / "runs")
    assert done.code == 2
    assert "dataset: 'ds_" in done.err


def test_too_many_failures_exit_with_3_after_the_table(arena: Arena, study: Path, tmp_path: Path) -> None:
    script = tmp_path / "broken.yaml"
    script.write_text("rules:\n  - error: 400\n")
    done = arena("run", study, "--strategies", "vanilla", "--llm", f"fake:{script}", "--set", "health_check=false")
    assert done.code == 3
    assert "failed" in done.out
