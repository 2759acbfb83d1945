from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import ConfigError
from arena.statistics.intervals import Interval
from arena.types import Dataset, RunRecord
from experiments.studies.calibrate.separation import TargetCalibration, open_dev_run
from experiments.studies.calibrate.thresholds import calibrate_rerank
from tests.unit.experiments.studies.calibrate.lookups import (
    GOLD,
    OTHER,
    RERANKED,
    RERANKER,
    dev,
    lookups,
    record,
    reranked,
    retrieved,
    run_of,
)


def found(folder: Path, dataset: Dataset, records: list[RunRecord]) -> TargetCalibration:
    return calibrate_rerank(open_dev_run(run_of(folder, dataset, records).folder))


def apart(dataset: Dataset) -> list[RunRecord]:
    """Gold evidence from 0.60 up, the best of the unanswerable ones below 0.40."""
    kept = [reranked(one, 0.6 + place / 100, 0.2) for place, one in enumerate(dev(dataset, "single_hop"))]
    refused = [reranked(one, 0.1, 0.3 + place / 200) for place, one in enumerate(dev(dataset, "unanswerable"))]
    return kept + refused


def test_a_threshold_between_two_populations_is_found(tmp_path: Path) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("unanswerable", 12))
    it = found(tmp_path / "run", dataset, apart(dataset))
    (best,) = it.chosen
    assert best.value is not None
    assert 0.355 < best.value <= 0.6
    assert (it.separates, it.judge, it.auc) == (True, RERANKER, Interval(1.0, 1.0, 1.0))
    assert [len(one.scores) for one in it.populations] == [12, 12]
    assert best.measures["J less optimism"].low > 0.9


def test_the_table_says_what_each_threshold_would_have_shown(tmp_path: Path) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("unanswerable", 12))
    table = found(tmp_path / "run", dataset, apart(dataset)).table
    assert table.headings == (
        "refused (n=12)",
        "evidence kept (n=12)",
        "J",
        "recall (n=12)",
        "precision",
        "passages (n=24)",
        "words",
    )
    without, best = table.rows[0], next(row for row in table.rows if row.mark == "best")
    assert without.value is None
    assert [one.mean if isinstance(one, Interval) else one for one in without.figures] == pytest.approx(
        [0.0, 1.0, 0.0, 1.0, 0.5, 2.0, 7.0]
    )
    assert [one.mean if isinstance(one, Interval) else one for one in best.figures] == pytest.approx(
        [1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 2.5]
    )


def test_the_runs_own_threshold_hides_no_score(tmp_path: Path) -> None:
    """What it dropped is in the journal, so that lower thresholds are known as well."""
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("unanswerable", 12))
    openly = found(tmp_path / "open", dataset, apart(dataset))
    cut = []
    for one in apart(dataset):
        passages = [(hit.doc_id, hit.score) for hit in one.retrievals[0].hits]
        question = next(each for each in dataset.questions if each.question_id == one.question_id)
        above, below = [p for p in passages if p[1] >= 0.65], [p for p in passages if p[1] < 0.65]
        cut.append(record(RERANKED, question, retrieval=retrieved(question, above, below)))
    assert found(tmp_path / "cut", dataset, cut) == openly


def test_equal_scores_do_not_separate(tmp_path: Path) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("unanswerable", 12))
    records = [
        reranked(one, 0.5 + place / 100, 0.5 + place / 100)
        for kind in ("single_hop", "unanswerable")
        for place, one in enumerate(dev(dataset, kind))
    ]
    it = found(tmp_path / "run", dataset, records)
    assert (it.separates, it.auc.mean) == (False, 0.5)
    assert it.verdict == "'evidence' and 'unanswerable' do not separate: the interval of AUC includes 0.5"


def test_the_wrong_way_round_is_no_separation(tmp_path: Path) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("unanswerable", 12))
    records = [reranked(one, 0.1, 0.0) for one in dev(dataset, "single_hop")]
    records += [reranked(one, 0.8, 0.9) for one in dev(dataset, "unanswerable")]
    it = found(tmp_path / "run", dataset, records)
    assert (it.separates, it.chosen[0].value) == (False, None)
    assert it.verdict.endswith("lies below 0.5, the wrong way round")


def test_each_kind_is_looked_at_alone_too(tmp_path: Path) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("multi_hop", 30), ("unanswerable", 12))
    records = apart(dataset) + [reranked(one, 0.2, 0.1) for one in dev(dataset, "multi_hop")]
    it = found(tmp_path / "run", dataset, records)
    assert not it.separates
    assert it.verdict.endswith("; alone, single_hop would")
    assert [(part.name, part.n, part.separates) for part in it.parts] == [
        ("multi_hop", 30, False),
        ("single_hop", 12, True),
    ]


def test_evidence_that_was_never_found_is_not_lost_by_a_threshold(tmp_path: Path) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 14), ("unanswerable", 12))
    records = apart(dataset)
    for place in (0, 1):
        question = dev(dataset, "single_hop")[place]
        records[place] = record(RERANKED, question, retrieval=retrieved(question, [(OTHER, 0.9)]))
    it = found(tmp_path / "run", dataset, records)
    assert len(it.populations[0].scores) == 12
    assert it.notes == ("2 answerable questions had no gold evidence among their passages, and none to keep",)
    assert it.table.rows[0].figures[3] == pytest.approx(12 / 14)


def test_few_questions_are_shown_and_not_chosen_on(tmp_path: Path) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("unanswerable", 2))
    it = found(tmp_path / "run", dataset, apart(dataset))
    assert not it.separates
    assert it.verdict == "'evidence' and 'unanswerable': 2 of one are too few to choose on; at least 10 are needed"


@pytest.mark.parametrize(
    ("unanswerable", "said"),
    [(0, "asks no unanswerable question"), (1, "give 1 scores of 'unanswerable', and at least 2 are needed")],
)
def test_what_cannot_be_told_is_said(tmp_path: Path, unanswerable: int, said: str) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("unanswerable", unanswerable))
    with pytest.raises(ConfigError, match=said):
        found(tmp_path / "run", dataset, apart(dataset))


def test_a_retrieval_for_something_else_than_the_question_says_nothing(tmp_path: Path) -> None:
    dataset = lookups(tmp_path / "data", ("single_hop", 12), ("unanswerable", 12))
    one, other = dev(dataset, "single_hop")[:2]
    rewritten = record(RERANKED, one, retrieval=retrieved(other, [(GOLD, 0.9)]))
    with pytest.raises(ConfigError, match="has no retrieval of mode hybrid_rerank: make one with arena run"):
        found(tmp_path / "run", dataset, [rewritten])
