from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arena.errors import RunStoreError
from arena.leaderboard.build import DatasetSummary, Leaderboard
from arena.store import RunStore
from arena.tracking.source import finished_run

MANIFEST: dict[str, Any] = {
    "status": "finished",
    "started": "2026-01-02T03:04:05+00:00",
    "finished": "2026-01-02T03:05:05+00:00",
    "config": {},
    "identity": {},
}


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    (tmp_path / "r1").mkdir()
    store = RunStore(tmp_path / "r1")
    dataset = DatasetSummary(name="small", fingerprint="dataset_0", n_documents=4, n_questions=5)
    store.write_manifest(MANIFEST)
    store.write_leaderboard(Leaderboard(run_id="r1", fingerprint="run_0", dataset=dataset, cells=[]).model_dump_json())
    return store


def test_a_run_is_told_from_others_by_its_name_and_start(store: RunStore) -> None:
    key = finished_run(store, 20).key
    assert finished_run(store, 5).key == key
    store.write_manifest(MANIFEST | {"started": "2026-01-02T03:04:06+00:00"})
    assert finished_run(store, 20).key != key


def test_the_content_changes_with_any_file_or_the_number_of_traces(store: RunStore) -> None:
    digest = finished_run(store, 20).digest
    assert finished_run(store, 20).digest == digest
    assert finished_run(store, 19).digest != digest
    (store.folder / "report.html").write_text("<p>new</p>")
    assert finished_run(store, 20).digest != digest


def test_what_was_done_with_the_run_is_no_content(store: RunStore) -> None:
    digest = finished_run(store, 20).digest
    store.write_manifest(MANIFEST | {"note": "tracked"})
    assert finished_run(store, 20).digest == digest


def test_locks_and_halves_are_not_copied(store: RunStore) -> None:
    for name in ("run.lock", ".scores.parquet.part", "report.html"):
        (store.folder / name).touch()
    (store.folder / "shards").mkdir()
    names = [path.name for path in finished_run(store, 20).files]
    assert names == ["leaderboard.json", "manifest.json", "report.html"]


def test_times_are_those_of_the_run(store: RunStore) -> None:
    run = finished_run(store, 20)
    assert (run.started_ms, run.finished_ms) == (1_767_323_045_000, 1_767_323_105_000)
    store.write_manifest(MANIFEST | {"finished": None})
    assert finished_run(store, 20).finished_ms == run.started_ms


def test_an_unfinished_run_is_refused_with_what_to_do(store: RunStore) -> None:
    store.write_manifest(MANIFEST | {"status": "stopped"})
    with pytest.raises(RunStoreError, match=r"'r1' is not finished: .*arena run --resume --run-id r1"):
        finished_run(store, 20)


def test_a_leaderboard_of_another_version_is_refused(store: RunStore) -> None:
    store.write_leaderboard('{"schema_version": 0}')
    with pytest.raises(RunStoreError, match=r"leaderboard\.json of run 'r1' is damaged, or of another version"):
        finished_run(store, 20)
