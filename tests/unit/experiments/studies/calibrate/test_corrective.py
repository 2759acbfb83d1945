from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.types import Dataset, RunRecord
from experiments.studies.calibrate.separation import TargetCalibration, open_dev_run
from experiments.studies.calibrate.thresholds import calibrate_corrective
from tests.unit.experiments.studies.calibrate.evaluated import CELL, evaluated, overlapping
from tests.unit.experiments.studies.calibrate.lookups import dev, lookups, run_of


def found(folder: Path, dataset: Dataset, records: list[RunRecord]) -> TargetCalibration:
    return calibrate_corrective(open_dev_run(run_of(folder, dataset, records).folder))


@pytest.fixture
def twenty(tmp_path: Path) -> Dataset:
    return lookups(tmp_path / "data", ("single_hop", 20))


def test_what_lies_between_the_thresholds_is_what_neither_error_is_bounded_for(tmp_path: Path, twenty: Dataset) -> None:
    it = found(tmp_path / "run", twenty, overlapping(twenty))
    lower, upper = it.chosen
    assert (lower.name, upper.name, it.separates) == ("lower", "upper", True)
    assert lower.value == pytest.approx(0.0875)  # two of twenty lie below
    assert upper.value == pytest.approx(0.2375)  # two of twenty lie above
    assert lower.measures["evidence kept"].mean == pytest.approx(0.9)
    assert upper.measures["other passages refused"].mean == pytest.approx(0.9)
    assert it.judge == "probabilities of fake:"
    were, would = it.notes[:2]
    assert were.startswith("actions of this run: correct 0 (0 with evidence), ambiguous 20 (20 with evidence)")
    assert would == (
        "actions at the best thresholds: correct 15 (15 with evidence), ambiguous 3 (3 with evidence), "
        "incorrect 2 (2 with evidence)"
    )


def test_where_the_bounds_cross_one_cut_does_for_both(tmp_path: Path, twenty: Dataset) -> None:
    records = [
        evaluated(one, 0.5 + place / 50, place / 50 - 0.5) for place, one in enumerate(dev(twenty, "single_hop"))
    ]
    lower, upper = found(tmp_path / "run", twenty, records).chosen
    assert lower.value == upper.value == pytest.approx(0.19)
    assert "upper by its own criterion would be below lower" in lower.criterion


def test_the_evidence_of_an_unanswerable_question_is_nothing(tmp_path: Path) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("unanswerable", 12))
    records = [evaluated(one, 0.8, -0.8) for kind in ("single_hop", "unanswerable") for one in dev(dataset, kind)]
    evidence, other = found(tmp_path / "run", dataset, records).populations
    assert (len(evidence.scores), len(other.scores)) == (12, 24)
    assert max(other.scores) == 0.8


def test_strips_can_be_told_of_where_passages_are_the_strips(tmp_path: Path, twenty: Dataset) -> None:
    whole = replace(CELL, params={"evaluator": "labels", "decompose": "passages"})
    by_passage = found(tmp_path / "passages", twenty, overlapping(twenty, of=whole))
    assert [one.name for one in by_passage.chosen] == ["lower", "upper", "strip_threshold"]
    assert by_passage.judge == "labels of fake:"
    by_sentence = found(tmp_path / "sentences", twenty, overlapping(twenty))
    assert "strip_threshold cannot be told" in by_sentence.notes[-1]


def test_scores_that_say_nothing_give_no_thresholds(tmp_path: Path, twenty: Dataset) -> None:
    records = [evaluated(one, place / 20, place / 20) for place, one in enumerate(dev(twenty, "single_hop"))]
    it = found(tmp_path / "run", twenty, records)
    assert (it.separates, it.auc.mean) == (False, 0.5)


def test_two_evaluators_in_one_mode_are_two_calibrations(tmp_path: Path, twenty: Dataset) -> None:
    labels = replace(CELL, params={"evaluator": "labels"})
    with pytest.raises(ConfigError, match="has 2 cells of corrective in mode hybrid "):
        found(tmp_path / "run", twenty, overlapping(twenty) + overlapping(twenty, of=labels))


def test_the_reranked_mode_is_read_before_others(tmp_path: Path, twenty: Dataset) -> None:
    deep = replace(CELL, retrieval_mode="hybrid_rerank")
    it = found(tmp_path / "run", twenty, overlapping(twenty) + overlapping(twenty, of=deep))
    assert it.cell == deep.key


def test_a_run_without_it_says_what_to_run(tmp_path: Path, twenty: Dataset) -> None:
    other = replace(CELL, strategy="vanilla")
    with pytest.raises(ConfigError, match="run 'run' has no cell to calibrate it on: run corrective on the part dev"):
        found(tmp_path / "run", twenty, overlapping(twenty, of=other))
