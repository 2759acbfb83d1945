from __future__ import annotations

from pathlib import Path

import pytest

from arena.report.leaderboard import Leaderboard
from arena.store import RunStore
from arena.tracking import EXPERIMENT, TrackingError, local_uri, track
from tests.integration.conftest import Arena


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
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
    with pytest.raises(TrackingError):
        track(store, board, "http://127.0.0.1:9")
