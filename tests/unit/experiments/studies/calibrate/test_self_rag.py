from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.types import Cell, Dataset, Decision, Question, RunRecord
from experiments.studies.calibrate.separation import TargetCalibration, open_dev_run
from experiments.studies.calibrate.thresholds import calibrate_self_rag
from tests.unit.experiments.studies.calibrate.lookups import dev, lookups, record, run_of

CELL = Cell("self_rag", "hybrid", "fake:", {"retrieval": "adaptive", "judge": "probabilities", "delta": 0.2})
ALONE = Cell("closed_book", "none", "fake:")


def decided(question: Question, share: float | None) -> RunRecord:
    later = Decision("retrieve?", "yes", 0.99, 0.2, "default", tier="T1", subject="segment 2, text 1")
    first = Decision("retrieve?", "yes", share, 0.2, "default", tier="T1", subject="segment 1, text 1")
    return record(CELL, question, text="right", decisions=[later, first])


def found(folder: Path, dataset: Dataset, records: list[RunRecord]) -> TargetCalibration:
    return calibrate_self_rag(open_dev_run(run_of(folder, dataset, records).folder))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return lookups(tmp_path / "data", ("single_hop", 24), ("summary", 3), ("unanswerable", 3))


def known(dataset: Dataset, share_of_known: float, share_of_unknown: float) -> list[RunRecord]:
    """The model alone is right on every second question."""
    records = []
    for place, one in enumerate(dev(dataset, "single_hop")):
        right = place % 2 == 0
        records.append(decided(one, share_of_known if right else share_of_unknown))
        records.append(record(ALONE, one, text="Right." if right else "no idea"))
    for kind in ("summary", "unanswerable"):
        for one in dev(dataset, kind):
            records += [decided(one, 0.5), record(ALONE, one, text="right")]
    return records


def test_delta_parts_what_the_model_knows_from_what_it_must_look_up(tmp_path: Path, dataset: Dataset) -> None:
    it = found(tmp_path / "run", dataset, known(dataset, 0.3, 0.7))
    (delta,) = it.chosen
    assert (delta.setting, it.separates) == ("strategy_params.self_rag.delta", True)
    assert delta.value == pytest.approx(0.5)
    assert [len(one.scores) for one in it.populations] == [12, 12]
    own = it.table.rows[0]
    assert own.value is None
    assert it.judge == "probabilities of fake:"


def test_a_model_that_asks_where_it_knows_gives_no_delta(tmp_path: Path, dataset: Dataset) -> None:
    assert not found(tmp_path / "run", dataset, known(dataset, 0.7, 0.3)).separates


def test_an_abstention_is_not_right_even_if_its_text_is(tmp_path: Path, dataset: Dataset) -> None:
    records = known(dataset, 0.3, 0.7)
    records = [replace_answer(one) if one.cell == ALONE else one for one in records]
    with pytest.raises(ConfigError, match="closed_book answers none of the 24 questions right that both were asked"):
        found(tmp_path / "run", dataset, records)


def replace_answer(one: RunRecord) -> RunRecord:
    assert one.answer is not None
    return replace(one, outcome="abstained", answer=replace(one.answer, abstained=True))


def test_without_closed_book_it_cannot_be_told_when_retrieval_was_needed(tmp_path: Path, dataset: Dataset) -> None:
    records = [one for one in known(dataset, 0.3, 0.7) if one.cell == CELL]
    with pytest.raises(ConfigError, match="has 0 cells of closed_book, and one is needed"):
        found(tmp_path / "run", dataset, records)


def test_labels_have_no_share(tmp_path: Path, dataset: Dataset) -> None:
    records = [decided(one, None) for one in dev(dataset, "single_hop")]
    with pytest.raises(ConfigError, match="no retrieval decision with a share"):
        found(tmp_path / "run", dataset, records)


def test_a_row_that_always_retrieves_decides_nothing(tmp_path: Path, dataset: Dataset) -> None:
    always = replace(CELL, params={"retrieval": "always"})
    records = [record(always, one, text="right") for one in dev(dataset, "single_hop")]
    with pytest.raises(ConfigError, match="run self_rag and closed_book on the part dev"):
        found(tmp_path / "run", dataset, records)
