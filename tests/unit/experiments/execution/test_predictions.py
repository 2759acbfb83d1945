from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from arena.datasets.musique import read_official_gold, read_predictions
from arena.errors import ConfigError, DatasetError
from arena.leaderboard.build import CellSummary
from arena.metrics import METRICS, Case, score_record
from arena.metrics.answer import evaluate
from arena.report.figures import tokens_text
from arena.report.sections.limits import spending_notes
from arena.types import Dataset
from experiments.execution.predictions import OF_RETRIEVALS, Predictions, predictions_board, score_predictions
from tests.samples import answered
from tests.unit.experiments.official_files import (
    ANSWERABLE,
    OFFICIAL,
    OFFICIAL_TWINS,
    PREDICTED,
    PREDICTED_TWINS,
    TWINS,
    Line,
    predicted_line,
    write_lines,
)


def scored(folder: Path, gold: tuple[Line, ...], predicted: tuple[Line, ...]) -> Predictions:
    data = write_lines(folder / "dev.jsonl", gold)
    return score_predictions(write_lines(folder / "mine.jsonl", predicted), f"musique:{data}")


def row_of(predictions: Predictions) -> CellSummary:
    (row,) = predictions_board(predictions).cells
    return row


@pytest.mark.parametrize(
    ("gold", "predicted", "official"),
    [(ANSWERABLE, PREDICTED, OFFICIAL), (TWINS, PREDICTED_TWINS, OFFICIAL_TWINS)],
    ids=["answerable", "full"],
)
def test_the_official_figures_are_those_worked_out_by_hand(
    tmp_path: Path, gold: tuple[Line, ...], predicted: tuple[Line, ...], official: dict[str, float]
) -> None:
    found = scored(tmp_path, gold, predicted)
    assert found.official == pytest.approx(official)
    records = read_official_gold(tmp_path / "dev.jsonl")
    assert found.official == evaluate(read_predictions(tmp_path / "mine.jsonl", records), records)


def test_the_row_has_the_arena_s_own_metrics(tmp_path: Path) -> None:
    row = row_of(scored(tmp_path, ANSWERABLE, PREDICTED))
    assert (row.strategy, row.retrieval_mode, row.llm) == ("predictions:mine", "none", None)
    assert (row.n_questions, row.n_answered, row.n_abstained, row.n_failed) == (3, 3, 0, 0)
    means = {name: summary.mean for name, summary in row.metrics.items()}
    assert means["answer_em"] == pytest.approx(OFFICIAL["answer_em"])
    assert means["answer_f1"] == pytest.approx(OFFICIAL["answer_f1"])
    assert means["support_f1"] == pytest.approx(OFFICIAL["support_f1"])
    assert means["retrieval_recall"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert means["retrieval_precision"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert means["citation_recall"] == means["retrieval_recall"]


def test_what_predictions_do_not_tell_is_unknown_and_not_zero(tmp_path: Path) -> None:
    row = row_of(scored(tmp_path, ANSWERABLE, PREDICTED))
    assert {row.metrics[name].coverage for name in OF_RETRIEVALS} == {None}
    assert row.latency_seconds.n_measured == 0
    assert (row.tokens_per_question.input, row.tokens_per_question.output, row.cost_usd_per_question) == (None,) * 3
    assert tokens_text(row) == "unknown"
    assert list(spending_notes(predictions_board(scored(tmp_path, ANSWERABLE, PREDICTED)))) == []
    assert not row.on_pareto_front
    assert not row.guards
    assert row.failures is None or not row.failures.counts


def test_metrics_of_retrievals_are_those_that_the_retrievals_change(dataset: Dataset) -> None:
    """Of a question with claims, whose record has hits, and of the same without."""
    record = answered("q4", "Mirelle Ostrand.", ("d2", "d3", "d1"))
    answer = record.answer
    assert answer is not None
    record = replace(record, cell=replace(record.cell, params={"k": 10}))
    bare = replace(record, retrievals=(), answer=replace(answer, retrieved_ids=()))
    documents = {one.doc_id: one for one in dataset.documents}
    question, gold = dataset.questions[3], dataset.gold["q4"]
    both = [score_record(Case(one, question, gold, documents)) for one in (record, bare)]
    changed = {one.metric for one, other in zip(*both, strict=True) if one != other}
    assert changed == OF_RETRIEVALS
    assert set(METRICS) >= OF_RETRIEVALS


def test_what_is_predicted_to_have_no_answer_abstains(tmp_path: Path) -> None:
    found = scored(tmp_path, TWINS, PREDICTED_TWINS)
    row = row_of(found)
    assert (row.n_questions, row.n_answered, row.n_abstained) == (4, 3, 1)
    assert row.metrics["correct_abstention"].mean == 0.5
    assert list(found.row.scores) == [
        *("2hop__1_1", "2hop__1_1#unanswerable"),
        *("2hop__2_2", "2hop__2_2#unanswerable"),
    ]


def test_a_paragraph_that_the_record_has_not_is_wrong_support(tmp_path: Path) -> None:
    found = scored(tmp_path, ANSWERABLE[:1], (predicted_line(1, "Ilse Brandt", 1, 2, 77),))
    assert found.official["support_f1"] == pytest.approx(0.8)
    assert row_of(found).metrics["retrieval_precision"].mean == pytest.approx(2 / 3)


def test_a_row_for_a_run_is_about_its_questions_only(tmp_path: Path) -> None:
    data = write_lines(tmp_path / "dev.jsonl", ANSWERABLE)
    mine = write_lines(tmp_path / "mine.jsonl", PREDICTED)
    found = score_predictions(mine, f"musique:{data}", {"2hop__2_2"})
    assert list(found.row.scores) == ["2hop__2_2"]
    assert found.official == pytest.approx(OFFICIAL)


def test_another_file_of_that_name_is_another_cell(tmp_path: Path) -> None:
    one = scored(tmp_path, ANSWERABLE, PREDICTED).row.cell
    other = scored(tmp_path, ANSWERABLE, (*PREDICTED[:2], predicted_line(3, "1812", 2))).row.cell
    assert one.strategy == other.strategy
    assert one.key != other.key


@pytest.mark.parametrize("spec", ["world", "jsonl:data", "musique", "musique:"])
def test_other_data_have_no_official_format(tmp_path: Path, spec: str) -> None:
    with pytest.raises(ConfigError, match="musique:FILE"):
        score_predictions(tmp_path / "mine.jsonl", spec)


def test_a_run_without_any_of_the_predicted_questions_is_refused(tmp_path: Path) -> None:
    data = write_lines(tmp_path / "dev.jsonl", ANSWERABLE)
    mine = write_lines(tmp_path / "mine.jsonl", PREDICTED)
    with pytest.raises(DatasetError, match="none of the"):
        score_predictions(mine, f"musique:{data}", {"another"})
