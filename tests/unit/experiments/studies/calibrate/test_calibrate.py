from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from arena.config import load_config
from arena.config.settings import CalibratedThreshold
from arena.errors import ConfigError, RunStoreError, UnknownNameError
from arena.types import Dataset, RunRecord
from experiments.studies.calibrate.calibrate import calibrate_run, print_calibration
from experiments.studies.calibrate.separation import Calibration
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from strategies import find_variant
from tests.unit.experiments.studies.calibrate.evaluated import overlapping
from tests.unit.experiments.studies.calibrate.lookups import RERANKER, dev, ids, lookups, reranked, run_of


def quiet() -> Reporter:
    return Reporter(Console(file=io.StringIO()), quiet=True)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return lookups(tmp_path / "data", ("single_hop", 20), ("unanswerable", 12))


def scored(dataset: Dataset, gold: float) -> list[RunRecord]:
    """Gold evidence at `gold`, the best of the unanswerable ones at 0.3."""
    found = [reranked(one, gold, 0.1) for one in dev(dataset, "single_hop")]
    return found + [reranked(one, 0.1, 0.3) for one in dev(dataset, "unanswerable")]


def printed(found: Calibration, *, json: bool = False) -> str:
    text = io.StringIO()
    print_calibration(found, Console(file=text, width=200), json=json)
    return text.getvalue()


def test_the_config_holds_the_value_and_the_run_that_it_holds_for(tmp_path: Path, dataset: Dataset) -> None:
    rerank = {"model": "late_interaction", "threshold": -100.0}
    settings: dict[str, Any] = {
        "strategies": ["retrieval_only"],
        "modes": ["hybrid_rerank"],
        "rerank": rerank,
        "seed": 5,
    }
    sample = {"part": "dev", "limit": 500, "balance": "even"}
    store = run_of(tmp_path / "run", dataset, scored(dataset, 0.7), **settings, run_id="run", sample=sample)
    found = calibrate_run(store.folder, "rerank", None, quiet())
    assert found.written == store.folder / "calibrated.yaml"
    config = load_config(found.written, {})
    assert config.rerank.threshold == CalibratedThreshold(value=found.findings[0].chosen[0].value, reranker=RERANKER)
    assert (config.dataset, config.strategies, config.modes) == (dataset.name, ("retrieval_only",), ("hybrid_rerank",))
    assert (config.sample.part, config.sample.limit, config.sample.balance) == ("eval", 500, "even")
    assert (config.seed, config.run_id) == (5, None)
    header = [line for line in found.written.read_text().splitlines() if line.startswith("#")]
    assert "run run, fingerprint run_0123456789abcdef, 2026-01-01T00:00:00+00:00, part dev" in header[1]
    assert "largest J" in header[2]
    assert "n = 20 evidence, 12 unanswerable" in header[2]
    assert "95 % interval" in header[2]


def test_a_strategys_thresholds_go_where_its_settings_are(tmp_path: Path, dataset: Dataset) -> None:
    settings: dict[str, Any] = {
        "strategies": ["corrective:upper=0.9:max_strips=3", "vanilla"],
        "strategy_params": {"corrective": {"keywords": 2, "lower": -0.9}},
    }
    store = run_of(tmp_path / "run", dataset, overlapping(dataset), **settings)
    found = calibrate_run(store.folder, None, tmp_path / "next.yaml", quiet())
    assert found.written == tmp_path / "next.yaml"
    config = load_config(found.written, {})
    assert config.strategies == ("corrective:max_strips=3", "vanilla")
    params = find_variant(config.strategies[0], config.strategy_params).params.model_dump()
    lower, upper = found.findings[0].chosen
    assert (params["upper"], params["lower"], params["max_strips"], params["keywords"]) == (
        upper.value,
        lower.value,
        3,
        2,
    )
    assert (params["calibrated"], params["calibrated_for"]) == (("lower", "upper"), "probabilities of fake:")
    assert sorted(found.untold) == ["rerank", "router", "self_rag"]


def test_ids_of_the_part_dev_are_left_behind(tmp_path: Path, dataset: Dataset) -> None:
    asked = ids("single_hop_", 20) + ids("unanswerable_", 12)
    store = run_of(tmp_path / "run", dataset, scored(dataset, 0.7), sample={"ids": asked})
    found = calibrate_run(store.folder, None, None, quiet())
    assert found.written is not None
    assert load_config(found.written, {}).sample.ids is None


def test_what_does_not_separate_is_shown_and_never_written(tmp_path: Path, dataset: Dataset) -> None:
    store = run_of(tmp_path / "run", dataset, scored(dataset, 0.3))
    earlier = store.folder / "calibrated.yaml"
    earlier.write_text("# Written by `arena calibrate`. Next: arena run FILE\nseed: 1\n")
    text = earlier.read_text()
    reporter = quiet()
    found = calibrate_run(store.folder, "rerank", None, reporter)
    assert (found.written, earlier.read_text()) == (None, text)
    assert "do not separate" in reporter.warnings[0]
    assert "is left as it was: it is of an earlier calibration" in reporter.warnings[1]
    text = printed(found)
    assert "'evidence' and 'unanswerable' do not separate" in text
    assert text.count("|") == 4
    assert "no config is written" in text


def test_what_is_printed_is_what_was_found(tmp_path: Path, dataset: Dataset) -> None:
    store = run_of(tmp_path / "run", dataset, scored(dataset, 0.7))
    found = calibrate_run(store.folder, "rerank", None, quiet())
    text = printed(found)
    for part in ("refused (n=12)", "evidence kept (n=20)", "best", "AUC 1.00", "rerank.threshold 0.5", "written"):
        assert part in text
    fields = json.loads(printed(found, json=True))
    (finding,) = fields["findings"]
    assert (finding["target"], finding["separates"], finding["judge"]) == ("rerank", True, RERANKER)
    assert finding["chosen"][0]["value"] == found.findings[0].chosen[0].value
    assert finding["populations"][1]["quantiles"]["0.5"] == 0.3
    assert fields["written"] == str(found.written)


def test_the_same_run_gives_the_same_calibration(tmp_path: Path, dataset: Dataset) -> None:
    store = run_of(tmp_path / "run", dataset, scored(dataset, 0.7))
    first = calibrate_run(store.folder, None, None, quiet())
    text = (store.folder / "calibrated.yaml").read_bytes()
    assert calibrate_run(store.folder, None, None, quiet()) == first
    assert (store.folder / "calibrated.yaml").read_bytes() == text


def test_only_the_part_dev_may_be_tuned_on(tmp_path: Path, dataset: Dataset) -> None:
    store = run_of(tmp_path / "run", dataset, scored(dataset, 0.7), sample={"part": "all"})
    with pytest.raises(ConfigError, match="run 'run' is not for calibration: sample\\.part is 'all'"):
        calibrate_run(store.folder, None, None, quiet())
    assert not (store.folder / "calibrated.yaml").exists()


def test_only_a_finished_run_can_be_calibrated(tmp_path: Path, dataset: Dataset) -> None:
    store = run_of(tmp_path / "run", dataset, scored(dataset, 0.7))
    store.write_manifest(store.manifest() | {"status": "stopped"})
    with pytest.raises(RunStoreError, match="is not finished: go on with arena run --resume"):
        calibrate_run(store.folder, None, None, quiet())


@pytest.mark.parametrize(
    ("target", "error", "said"),
    [
        ("reranker", UnknownNameError, "unknown target 'reranker': did you mean 'rerank'"),
        (
            "corrective",
            ConfigError,
            "corrective: run 'run' has no cell to calibrate it on: run corrective on the part dev",
        ),
    ],
)
def test_a_target_that_cannot_be_told_is_named(
    tmp_path: Path, dataset: Dataset, target: str, error: type[Exception], said: str
) -> None:
    store = run_of(tmp_path / "run", dataset, scored(dataset, 0.7))
    with pytest.raises(error, match=said):
        calibrate_run(store.folder, target, None, quiet())


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_chosen(tmp_path: Path, dataset: Dataset) -> None:
    store = run_of(tmp_path / "run", dataset, scored(dataset, 0.7))
    for out in (tmp_path, tmp_path / "nowhere" / "next.yaml"):
        with pytest.raises(ConfigError, match="--out names a file in a folder that is there"):
            calibrate_run(store.folder, None, out, quiet())


def test_no_run_no_calibration(tmp_path: Path) -> None:
    with pytest.raises(RunStoreError, match="no run in"):
        calibrate_run(tmp_path, None, None, quiet())
    assert not list(tmp_path.iterdir())
