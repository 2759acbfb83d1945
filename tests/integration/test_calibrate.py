"""`arena calibrate` between a run on the part dev and the run that takes its values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from arena.store import RunStore
from tests.integration.conftest import Arena
from tests.unit.experiments.studies.calibrate.evaluated import overlapping
from tests.unit.experiments.studies.calibrate.lookups import lookups, run_of


@pytest.fixture
def calibrated(tmp_path: Path, tiny_embedder: Path) -> Path:
    """The folder of a finished run on the part dev whose evaluator tells the passages apart."""
    dataset = lookups(tmp_path / "data", ("single_hop", 20))
    store = run_of(
        tmp_path / "runs" / "dev",
        dataset,
        overlapping(dataset),
        strategies=["corrective"],
        modes=["hybrid"],
        llm={"model": "fake:"},
        embedding={"model": str(tiny_embedder)},
        runs_dir=str(tmp_path / "runs"),
        mlflow=False,
    )
    return store.folder


def test_the_next_run_takes_the_thresholds_and_says_where_they_come_from(arena: Arena, calibrated: Path) -> None:
    done = arena("calibrate", calibrated)
    assert (done.code, done.err) == (0, "")
    assert "strategy_params.corrective.upper" in done.out
    config = calibrated / "calibrated.yaml"
    assert arena("run", config, "--part", "eval", "--run-id", "next").code == 0
    chosen = yaml.safe_load(config.read_text())["strategy_params"]["corrective"]
    records = list(RunStore.open(calibrated.parent / "next").records())
    assert len(records) == 20
    actions = [one for record in records for one in record.decisions if one.node == "decide_action"]
    assert {one.origin for one in actions} == {"calibrated"}
    assert {one.threshold for one in actions} <= {chosen["upper"], chosen["lower"]}


def test_another_evaluator_does_not_get_them(arena: Arena, calibrated: Path) -> None:
    arena("calibrate", calibrated, "--json")
    refused = arena("run", calibrated / "calibrated.yaml", "--set", "strategy_params.corrective.evaluator=labels")
    assert refused.code == 2
    assert "calibrated on 'probabilities of fake:' and says nothing about 'labels of fake:'" in refused.err
    assert [path.name for path in calibrated.parent.iterdir()] == ["dev"]


def test_a_run_of_the_fake_model_is_calibrated_as_json(arena: Arena, study: Path, tmp_path: Path) -> None:
    asked = ("--dataset", "world", "--part", "dev", "--strategies", "corrective", "--modes", "dense", "--run-id", "w")
    assert arena("run", study, *asked, "--set", "retrieval.k=40").code == 0  # so that the tiny model finds evidence
    done = arena("calibrate", tmp_path / "runs" / "w", "--target", "corrective", "--json")
    assert done.code == 0
    fields = json.loads(done.out)
    (finding,) = fields["findings"]
    assert finding["judge"] == "probabilities of fake:"
    assert (fields["written"] is not None) == finding["separates"]
    assert (tmp_path / "runs" / "w" / "calibrated.yaml").exists() == finding["separates"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "upper"), "unknown target 'upper'"),
        (("--target", "router"), "router: run 'dev' has no cell to calibrate it on"),
        (("--out", "/nowhere/next.yaml"), "cannot write '/nowhere/next.yaml'"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    arena: Arena, calibrated: Path, options: tuple[str, str], said: str
) -> None:
    done = arena("calibrate", calibrated, *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (calibrated / "calibrated.yaml").exists()


def test_a_file_that_no_calibration_wrote_is_not_replaced(arena: Arena, calibrated: Path, tmp_path: Path) -> None:
    for mine in (tmp_path / "mine.yaml", calibrated / "manifest.json"):
        text = mine.read_bytes() if mine.exists() else b"dataset: world\n"
        mine.write_bytes(text)
        refused = arena("calibrate", calibrated, "--target", "corrective", "--out", mine)
        assert (refused.code, f"'{mine}' exists, and no calibration wrote it" in refused.err) == (2, True), refused.err
        assert mine.read_bytes() == text
    for _ in range(2):  # its own file is written anew
        assert arena("calibrate", calibrated, "--target", "corrective", "--out", tmp_path / "next.yaml").code == 0


def test_the_part_eval_is_not_tuned_on(arena: Arena, study: Path, tmp_path: Path) -> None:
    arena("run", study, "--strategies", "retrieval_only", "--modes", "dense", "--run-id", "all")
    done = arena("calibrate", tmp_path / "runs" / "all")
    assert done.code == 2
    assert "run 'all' is not for calibration: sample.part is 'all'" in done.err
