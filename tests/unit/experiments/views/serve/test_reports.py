from __future__ import annotations

import json
from pathlib import Path

from starlette.testclient import TestClient

from arena.store import RunStore
from experiments.views.serve.app import build_app
from experiments.views.serve.pages import Reports
from tests.unit.experiments.studies.review.reviewed_runs import reviewed_run


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_report_is_made_in_memory_and_nothing_is_written(tmp_path: Path, jsonl_folder: Path) -> None:
    store = reviewed_run(tmp_path / "runs" / "r1", jsonl_folder)
    before = contents(store.folder)
    reply = TestClient(build_app(tmp_path / "runs", patience_seconds=None), base_url="http://localhost").get("/runs/r1")
    assert reply.status_code == 200
    assert "r1" in reply.text
    assert 'http-equiv="Content-Security-Policy"' in reply.text
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
    assert contents(store.folder) == before


def test_a_run_of_an_older_version_is_shown_and_left(tmp_path: Path, jsonl_folder: Path) -> None:
    store = reviewed_run(tmp_path / "runs" / "r1", jsonl_folder)
    board = json.loads(store.leaderboard_json())
    del board["planes"]
    store.write_leaderboard(json.dumps(board))
    before = contents(store.folder)
    assert (
        TestClient(build_app(tmp_path / "runs", patience_seconds=None), base_url="http://localhost")
        .get("/runs/r1")
        .status_code
        == 200
    )
    assert contents(store.folder) == before


def test_the_last_four_reports_are_kept(tmp_path: Path, jsonl_folder: Path) -> None:
    made: list[str] = []

    def make(store: RunStore) -> str:
        made.append(store.run_id)
        return store.run_id

    reports = Reports(make)
    stores = [reviewed_run(tmp_path / f"r{number}", jsonl_folder) for number in range(5)]
    for store in (stores[0], *stores[:4], stores[0], stores[4], stores[0], stores[1]):
        assert reports.of(store) == store.run_id
    assert made == ["r0", "r1", "r2", "r3", "r4", "r1"]
