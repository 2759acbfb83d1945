from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import TrackingError
from arena.report.leaderboard import Leaderboard
from arena.store import RunStore
from arena.tracking import EXPERIMENT, local_uri, track
from tests.integration.conftest import Arena

ROOT = Path(__file__).parents[2]


def test_one_parent_and_one_child_per_cell_with_metrics_and_files(arena: Arena, study: Path, tmp_path: Path) -> None:
    import mlflow

    study.write_text(study.read_text().replace("mlflow: false", "mlflow: true"))
    done = arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only,vanilla")
    assert done.code == 0, done.err
    assert "warning: MLflow" not in done.err
    client = mlflow.MlflowClient(tracking_uri=local_uri(tmp_path / "runs"))
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    parents = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    children = [run for run in runs if "mlflow.parentRunId" in run.data.tags]
    assert [run.data.tags["mlflow.runName"] for run in parents] == ["r1"]
    assert {run.data.tags["mlflow.parentRunId"] for run in children} == {parents[0].info.run_id}
    board = Leaderboard.model_validate_json((tmp_path / "runs" / "r1" / "leaderboard.json").read_text())
    logged = {(run.data.params["strategy"], run.data.params["retrieval_mode"]): run.data.metrics for run in children}
    for cell in board.cells:
        metrics = logged[cell.strategy, cell.retrieval_mode]
        assert metrics["retrieval_recall"] == pytest.approx(cell.metrics["retrieval_recall"].mean)
        assert ("answer_f1" in metrics) == (cell.strategy == "vanilla")
    artifacts = {artifact.path for artifact in client.list_artifacts(parents[0].info.run_id, "run")}
    assert {"run/records.jsonl", "run/scores.parquet", "run/leaderboard.json", "run/manifest.json"} <= artifacts


def test_a_dead_server_is_reported_and_nothing_is_lost(
    arena: Arena, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    store = RunStore.open(tmp_path / "runs" / "r1")
    board = Leaderboard.model_validate_json(store.leaderboard_json())
    before = {file.name: file.read_bytes() for file in store.folder.iterdir()}
    with pytest.raises(TrackingError):
        track(store, board, "http://127.0.0.1:9")
    assert {file.name: file.read_bytes() for file in store.folder.iterdir()} == before


def test_tracking_failures_do_not_fail_the_run(
    arena: Arena, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    study.write_text(study.read_text().replace("mlflow: false", "mlflow: true"))
    done = arena("run", study, "--run-id", "r1", "--strategies", "retrieval_only")
    assert done.code == 0
    assert "warning: MLflow was not written" in done.err
    assert "retrieval_only" in done.out


def test_two_processes_share_a_new_store(arena: Arena, study: Path, tmp_path: Path) -> None:
    """The first writer makes the tables; a second one at the same moment must wait, not break them."""
    import mlflow

    for run_id in ("r1", "r2"):
        arena("run", study, "--run-id", run_id, "--strategies", "retrieval_only")
    code = (
        "import sys; from pathlib import Path; from arena.store import RunStore; from arena.tracking import track; "
        "from experiments.study import read_leaderboard; store = RunStore.open(Path(sys.argv[1])); "
        "track(store, read_leaderboard(store), None)"
    )
    folders = [str(tmp_path / "runs" / run_id) for run_id in ("r1", "r2")]
    processes = [subprocess.Popen([sys.executable, "-c", code, folder], cwd=ROOT) for folder in folders]
    assert [process.wait(timeout=100) for process in processes] == [0, 0]
    client = mlflow.MlflowClient(tracking_uri=local_uri(tmp_path / "runs"))
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    names = {run.data.tags["mlflow.runName"] for run in client.search_runs([experiment.experiment_id])}
    assert {"r1", "r2"} <= names
