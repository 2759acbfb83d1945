from __future__ import annotations

import pytest

from arena.metrics import METRICS
from arena.scoring import by_metric, score_records
from arena.types import Dataset, Document, Score
from tests.samples import answered, cell, failed


def test_scores_by_hand(dataset: Dataset) -> None:
    records = [answered("q1", "Ostrand", ("d2", "d4")), answered("q2", "In 1871.", ("d1",))]
    scores = by_metric(score_records(records, dataset).cells[0])
    assert [score.value for score in scores["retrieval_recall"]] == [0.5, 1.0]
    assert [score.value for score in scores["retrieval_precision"]] == [0.5, 1.0]
    assert [score.value for score in scores["full_recall"]] == [0.0, 1.0]
    assert [score.value for score in scores["answer_em"]] == [1.0, 0.0]
    assert [score.value for score in scores["answer_f1"]] == [1.0, pytest.approx(2 / 3)]
    assert [score.value for score in scores["answer_contains"]] == [1.0, 1.0]


def test_a_failure_is_missing_and_an_unanswerable_question_undefined(dataset: Dataset) -> None:
    scores = by_metric(score_records([failed("q1"), answered("q5", "Nobody", ("d1",))], dataset).cells[0])
    assert [score.reason for score in scores["answer_em"]] == ["failed", "unanswerable"]
    assert scores["retrieval_recall"][1] == Score("retrieval_recall", None, "no_gold")


def test_cells_stay_apart_and_in_order(dataset: Dataset) -> None:
    dense, hybrid = cell(mode="dense"), cell(mode="hybrid")
    records = [answered("q1", "x", of=hybrid), answered("q1", "Ostrand", of=dense), answered("q2", "1871", of=hybrid)]
    table = score_records(records, dataset)
    assert [(one.cell.retrieval_mode, list(one.scores)) for one in table.cells] == [
        ("hybrid", ["q1", "q2"]),
        ("dense", ["q1"]),
    ]
    assert len(list(table.rows())) == sum(len(scores) for one in table.cells for scores in one.scores.values())


def test_what_went_wrong_and_what_was_answered_is_kept_for_every_question(dataset: Dataset) -> None:
    records = [answered("q1", "Nobody", ("d1", "d2")), failed("q2"), answered("q5", "I do not know.", abstained=True)]
    (scored,) = score_records(records, dataset).cells
    assert {question: found.failure for question, found in scored.failures.items()} == {
        "q1": "hallucination",
        "q2": "provider_failed",
        "q5": "correct_abstention",
    }
    assert scored.answers == {"q1": "Nobody", "q2": None, "q5": "I do not know."}


def test_the_texts_of_a_second_index_are_looked_up_too(dataset: Dataset) -> None:
    record = answered("q2", "It was bridged in 1871.", ("e1",))
    known = {one.doc_id: one for one in dataset.documents}

    def faithfulness(documents: dict[str, Document]) -> Score:
        (scored,) = score_records([record], dataset, documents=documents).cells
        return by_metric(scored)["lexical_faithfulness"][0]

    assert faithfulness(known) == Score("lexical_faithfulness", None, "text_unknown")
    both = known | {"e1": Document("e1", "Orlen Weir", "The weir was bridged in 1871.")}
    assert faithfulness(both) == Score("lexical_faithfulness", 1.0)


def test_a_run_that_nobody_judged_has_no_scores_of_judges(dataset: Dataset) -> None:
    table = score_records([answered("q1", "Ostrand")], dataset)
    assert table.judges is None
    assert [score.metric for score in table.cells[0].scores["q1"]] == list(METRICS)


def test_scoring_twice_gives_the_same(dataset: Dataset) -> None:
    records = [answered("q1", "Ostrand", ("d2", "d4")), failed("q2"), answered("q4", "A hill town.", ("d2",))]
    assert score_records(records, dataset) == score_records(records, dataset)
