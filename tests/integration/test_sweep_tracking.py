"""A sweep in MLflow: a parent, a child for every cell of every point, once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from arena.tracking import EXPERIMENT, local_uri
from arena.tracking.runs import CONTENT_TAG, PARENT_TAG
from tests.integration.conftest import Arena
from tests.integration.test_sweep import OVER_K, rows, sweep_of

MORE = "strategies: [retrieval_only, closed_book]\nmodes: [dense]\n"


def client_of(runs_dir: Path) -> Any:
    import mlflow

    return mlflow.MlflowClient(tracking_uri=local_uri(runs_dir))


def runs_of(runs_dir: Path) -> list[Any]:
    client = client_of(runs_dir)
    experiment = client.get_experiment_by_name(EXPERIMENT)
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id]))


def test_rows_are_children_and_are_written_once(arena: Arena, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text(encoding="utf-8").replace("mlflow: false", "mlflow: true"), encoding="utf-8")
    config = sweep_of(study, OVER_K, MORE)
    done = arena("sweep", config, "--json")
    assert done.code == 0, done.err
    found = {run.info.run_id: run for run in runs_of(tmp_path / "runs")}
    parent = found[json.loads(done.out)["mlflow_run_id"]]
    children = [run for run in found.values() if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    swept = rows(tmp_path / "runs" / "s1")
    assert len(found) == 1 + len(children) == 1 + len(swept)
    by_place = {(run.data.tags["point"], run.data.params["strategy"]): run for run in children}
    for row in swept:
        run = by_place[row["point"], row["strategy"]]
        assert run.data.params["retrieval.k"] == row["retrieval.k"]
        assert run.data.tags["date"] == row["date"]
        assert run.data.tags["arena"] == row["arena"]
        assert "numpy" in run.data.tags["versions"]
        assert run.data.metrics["n_questions"] == float(row["n_questions"])
        assert ("latency_seconds/p50" in run.data.metrics) == (row["p50_seconds"] != "")

    again = arena("sweep", config, "--json")
    assert json.loads(again.out)["mlflow_run_id"] == parent.info.run_id
    assert {run.info.run_id for run in runs_of(tmp_path / "runs")} == found.keys()

    # A copy of another content is replaced, its parent as well as its children.
    client_of(tmp_path / "runs").set_tag(parent.info.run_id, CONTENT_TAG, "of another layout")
    anew = json.loads(arena("sweep", config, "--json").out)["mlflow_run_id"]
    left = {run.info.run_id: run.data.tags.get(PARENT_TAG) for run in runs_of(tmp_path / "runs")}
    assert anew in left
    assert not left.keys() & found.keys()
    assert [above for run_id, above in left.items() if run_id != anew] == [anew] * len(swept)


def test_a_dead_server_is_a_warning(arena: Arena, study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    study.write_text(study.read_text(encoding="utf-8").replace("mlflow: false", "mlflow: true"), encoding="utf-8")
    done = arena("sweep", sweep_of(study, OVER_K, "strategies: [closed_book]\n"))
    assert done.code == 0, done.err
    assert "MLflow was not written" in done.err
    assert len(rows(tmp_path / "runs" / "s1")) == 4
