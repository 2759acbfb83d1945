"""`arena track`, and the copy at the end of `arena run`: killed, beside another, without a server."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from arena.store import RunStore
from arena.tracking import local_uri, track
from tests.integration.conftest import Arena
from tests.integration.finished_run import small_records, write_finished_run
from tests.patience import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).parents[2]
NOTHING_LISTENS = "http://127.0.0.1:9"
TRACK = (
    "import sys; from pathlib import Path; from arena.store import RunStore; from arena.tracking import track; "
    "import mlflow; print('ready', flush=True); sys.stdin.readline(); "
    "track(RunStore.open(Path(sys.argv[1])), None, traces=20)"
)


@pytest.fixture
def runs_dir(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


def finished(runs_dir: Path, run_id: str, data: Path) -> RunStore:
    return write_finished_run(runs_dir / run_id, data, small_records())


@contextmanager
def tracking(store: RunStore) -> Iterator[subprocess.Popen[str]]:
    """A process that has loaded MLflow and begins to copy now."""
    command = [sys.executable, "-c", TRACK, str(store.folder)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("\n")
        process.stdin.flush()
        yield process


def living_runs(runs_dir: Path) -> list[tuple[str, str]]:
    """Name and kind of the MLflow runs that are not deleted; none while there is no database."""
    asked = (
        "select r.name, t.value from runs r join tags t using (run_uuid) "
        "where t.key = 'kind' and r.lifecycle_stage = 'active'"
    )
    with closing(sqlite3.connect(local_uri(runs_dir).removeprefix("sqlite:///"))) as database:
        try:
            return sorted(database.execute(asked))
        except sqlite3.OperationalError:
            return []


def test_the_command_says_what_it_did(arena: Arena, runs_dir: Path, jsonl_folder: Path) -> None:
    store = finished(runs_dir, "r1", jsonl_folder)
    done = arena("track", store.folder, "--traces", "1")
    assert done.code == 0, done.err
    assert done.out.startswith("written: MLflow run ")
    assert "2 traces" in done.out
    again = json.loads(arena("track", store.folder, "--traces", "1", "--json").out)
    assert (again["change"], again["cells"], again["uri"]) == ("unchanged", 2, local_uri(runs_dir))


def test_a_dead_server_is_reported_at_once_and_nothing_is_lost(
    arena: Arena, runs_dir: Path, jsonl_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", NOTHING_LISTENS)
    store = finished(runs_dir, "r1", jsonl_folder)
    before = {file.name: file.read_bytes() for file in store.folder.iterdir()}
    done = arena("track", store.folder)
    assert done.code == 2
    assert f"run 'r1' is not in MLflow: no MLflow server answers at '{NOTHING_LISTENS}'" in done.err
    assert {file.name: file.read_bytes() for file in store.folder.iterdir()} == before


def test_a_dead_server_does_not_fail_a_run(arena: Arena, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", NOTHING_LISTENS)
    study.write_text(study.read_text().replace("mlflow: false", "mlflow: true"))
    done = arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    assert done.code == 0, done.err
    assert "warning: MLflow was not written" in done.err
    assert "retrieval_only" in done.out


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_a_store_that_can_never_be_opened_ends_the_command_before_it_asks(
    arena: Arena, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "postgresql+pg8000://me:secret@db/mlflow")
    swept = "run_id: s1\nsweep: {factors: {retrieval.k: [1, 2]}}\n" if command == "sweep" else ""
    study.write_text(study.read_text().replace("mlflow: false", "mlflow: true") + swept)
    done = arena(command, study)
    assert done.code == 2
    assert "its driver is not installed" in done.err
    assert "--no-mlflow" in done.err
    assert "secret" not in done.err
    assert not (tmp_path / "runs").exists()


def test_a_run_is_copied_when_it_ends(arena: Arena, study: Path, runs_dir: Path) -> None:
    study.write_text(study.read_text().replace("mlflow: false", "mlflow: true"))
    done = arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only", "--modes", "dense")
    assert done.code == 0, done.err
    assert "warning: MLflow" not in done.err
    assert living_runs(runs_dir) == [("r1", "run"), ("retrieval_only + dense", "cell")]
    assert arena("track", runs_dir / "r1").out.startswith("unchanged: ")


def test_two_processes_share_a_new_store(runs_dir: Path, jsonl_folder: Path) -> None:
    """The first writer makes the tables; a second one at the same moment must wait, not break them."""
    one, two = (finished(runs_dir, run_id, jsonl_folder) for run_id in ("r1", "r2"))
    with tracking(one) as process:
        track(two, None, traces=20)
        assert process.wait(timeout=PATIENCE_SECONDS) == 0
    assert [name for name, kind in living_runs(runs_dir) if kind == "run"] == ["r1", "r2"]


def test_killed_half_way_and_copied_again_it_is_there_once(runs_dir: Path, jsonl_folder: Path) -> None:
    store = finished(runs_dir, "r1", jsonl_folder)
    with tracking(store) as process:
        wait_until(lambda: living_runs(runs_dir), process)
        process.kill()
    track(store, None, traces=20)
    assert living_runs(runs_dir) == [("corrective + dense", "cell"), ("r1", "run"), ("vanilla + dense", "cell")]
