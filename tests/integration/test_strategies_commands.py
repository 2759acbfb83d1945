from __future__ import annotations

import json
from pathlib import Path

from arena.leaderboard.build import Leaderboard
from arena.types import Dataset
from tests.integration.conftest import Arena

POLICIES = "adaptive:policy=always_a,adaptive:policy=always_b,adaptive:policy=always_c"


def test_labels_of_a_run_are_the_oracle_of_the_next(
    arena: Arena, study: Path, tmp_path: Path, dataset: Dataset
) -> None:
    assert arena("run", study, "--strategies", POLICIES, "--modes", "dense", "--run-id", "r1").code == 0
    labels = tmp_path / "labels.json"
    done = arena("strategies", "labels", tmp_path / "runs" / "r1", "--out", labels)
    assert done.code == 0, done.err
    written = json.loads(labels.read_text(encoding="utf-8"))
    assert set(written) <= {question.text for question in dataset.questions}
    assert f"{labels}: " in done.out
    oracle = f"adaptive:policy=oracle:oracle_labels={labels}"
    assert arena("run", study, "--strategies", oracle, "--modes", "dense", "--run-id", "r2").code == 0
    board = Leaderboard.model_validate_json((tmp_path / "runs" / "r2" / "leaderboard.json").read_text(encoding="utf-8"))
    (classify,) = [one for one in board.cells[0].controllers if one.node == "classify"]
    assert sum(branch.n_times for branch in classify.branches) == len(dataset.questions)
    shown = arena("show", tmp_path / "runs" / "r2")
    assert "classify" in shown.out
    assert "adaptive + dense at T0" in shown.out


def test_a_run_without_the_three_strategies_cannot_be_labelled(arena: Arena, study: Path, tmp_path: Path) -> None:
    assert arena("run", study, "--strategies", "vanilla", "--modes", "dense", "--run-id", "r1").code == 0
    done = arena("strategies", "labels", tmp_path / "runs" / "r1", "--out", tmp_path / "labels.json")
    assert done.code == 2
    assert "has no cell for label A" in done.err
