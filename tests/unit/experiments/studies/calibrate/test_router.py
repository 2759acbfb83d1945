from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.statistics.intervals import Interval
from arena.types import Cell, Dataset, Decision, Question, RunRecord
from experiments.studies.calibrate.router import calibrate_router
from experiments.studies.calibrate.separation import TargetCalibration, open_dev_run
from tests.unit.experiments.studies.calibrate.lookups import GOLD, dev, lookups, record, retrieved, run_of

ROUTER = Cell("adaptive", "hybrid", "fake:", {"policy": "classifier", "judge": "probabilities", "cost_bias": 0.0})
WAYS = {
    "A": Cell("closed_book", "none", "fake:"),
    "B": Cell("vanilla", "hybrid", "fake:"),
    "C": Cell("ircot", "hybrid", "fake:"),
}
NEARLY_B, SURELY_C = {"A": 0.0, "B": 0.4, "C": 0.6}, {"A": 0.0, "B": 0.05, "C": 0.95}


def found(folder: Path, dataset: Dataset, records: list[RunRecord]) -> TargetCalibration:
    return calibrate_router(open_dev_run(run_of(folder, dataset, records).folder))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return lookups(tmp_path / "data", ("single_hop", 20), ("multi_hop", 20))


def routed(question: Question, shares: Mapping[str, float], tier: str = "T1") -> RunRecord:
    return record(
        ROUTER, question, text="x", decisions=[Decision("classify", "C", shares.get("C"), tier=tier, parts=shares)]
    )


def answers(question: Question, simplest: str) -> list[RunRecord]:
    """Of every way; right from the simplest on."""
    found = []
    for way, of in WAYS.items():
        brought = retrieved(question, [(GOLD, 0.1)]) if way != "A" else None
        found.append(record(of, question, text="right" if way >= simplest else "wrong", retrieval=brought))
    return found


def careful(dataset: Dataset) -> list[RunRecord]:
    """Everything is called C; what B answers is nearly called B."""
    records = []
    for one in dev(dataset, "single_hop"):
        records += [routed(one, NEARLY_B), *answers(one, "B")]
    for one in dev(dataset, "multi_hop"):
        records += [routed(one, SURELY_C), *answers(one, "C")]
    return records


def test_a_careful_router_is_biased_towards_the_cheaper_way(tmp_path: Path, dataset: Dataset) -> None:
    it = found(tmp_path / "run", dataset, careful(dataset))
    (bias,) = it.chosen
    assert bias.value is not None
    assert 0.405 < bias.value < 2.95
    assert it.separates
    assert bias.measures["gain over 0"].mean == pytest.approx(0.5)
    assert [one.name for one in it.populations] == ["silver label C", "silver label A or B"]


def test_the_table_says_what_the_answers_would_have_been_and_cost(tmp_path: Path, dataset: Dataset) -> None:
    table = found(tmp_path / "run", dataset, careful(dataset)).table
    assert table.headings[-3:] == ("right", "tokens", "retrievals")
    without, best = table.rows[0], next(row for row in table.rows if row.mark == "best")
    assert [one.mean if isinstance(one, Interval) else one for one in without.figures] == pytest.approx(
        [0.5, 0.5, 0.0, 0.0, 0.0, 1.0, 1.0, 105.0, 1.0]
    )
    assert [one.mean if isinstance(one, Interval) else one for one in best.figures] == pytest.approx(
        [1.0, 1.0, 0.0, 0.0, 0.5, 0.5, 1.0, 105.0, 1.0]
    )


def test_a_router_that_is_right_stays_as_the_paper_has_it(tmp_path: Path, dataset: Dataset) -> None:
    records = []
    for one in dev(dataset, "single_hop"):
        records += [routed(one, {"A": 0.1, "B": 0.8, "C": 0.1}), *answers(one, "B")]
    for one in dev(dataset, "multi_hop"):
        records += [routed(one, SURELY_C), *answers(one, "C")]
    it = found(tmp_path / "run", dataset, records)
    assert (it.separates, it.verdict) == (False, "no bias above 0 labels better: the paper's 0 stays")


def test_without_the_three_ways_there_are_no_silver_labels(tmp_path: Path, dataset: Dataset) -> None:
    records = [one for one in careful(dataset) if one.cell != WAYS["C"]]
    with pytest.raises(ConfigError, match="no cell for label C"):
        found(tmp_path / "run", dataset, records)


def test_labels_without_probabilities_cannot_be_biased(tmp_path: Path, dataset: Dataset) -> None:
    records = [routed(one, {}, "T0") for one in dev(dataset, "single_hop")]
    with pytest.raises(ConfigError, match="has no label probabilities"):
        found(tmp_path / "run", dataset, records)


def test_a_fixed_policy_is_no_router(tmp_path: Path, dataset: Dataset) -> None:
    fixed = replace(ROUTER, params={"policy": "always_b"})
    with pytest.raises(ConfigError, match="run adaptive \\(policy classifier\\) beside closed_book, vanilla and ircot"):
        found(tmp_path / "run", dataset, [record(fixed, one, text="x") for one in dev(dataset, "single_hop")])
