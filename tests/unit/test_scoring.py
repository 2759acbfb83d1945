from __future__ import annotations

from dataclasses import replace

import pytest

from arena.scoring import by_metric, score_records, usage_of
from arena.types import Dataset, LLMCall, RunRecord, Score
from tests.samples import answered, call, cell, failed


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


def with_calls(*calls: LLMCall) -> RunRecord:
    return replace(answered("q1", "x"), calls=calls, wall_seconds=2.0)


def test_tokens_add_up_over_all_calls() -> None:
    usage = usage_of(with_calls(call(input_tokens=70), call(input_tokens=30, output_tokens=0)))
    spent = usage.account.whole
    assert (spent.input_tokens.value, spent.output_tokens.value, spent.calls) == (100, 5, 2)


def test_one_unknown_count_makes_the_sum_unknown() -> None:
    spent = usage_of(with_calls(call(), call(input_tokens=None))).account.whole
    assert (spent.input_tokens.value, spent.output_tokens.value) == (None, 10)


def test_waiting_in_our_own_queue_is_not_latency() -> None:
    assert usage_of(with_calls(call(queue_seconds=1.5))).latency_seconds == pytest.approx(0.5)


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS"])
def test_one_reply_cut_off_at_the_limit_marks_the_question(reason: str) -> None:
    assert usage_of(with_calls(call(finish_reason=reason), call(finish_reason="stop"))).truncated
    assert not usage_of(with_calls(call(finish_reason="end_turn"), call())).truncated


def test_a_judgement_cut_off_at_its_own_bound_marks_nothing() -> None:
    assert not usage_of(with_calls(call(finish_reason="length", bounded=True))).truncated


def test_replayed_and_failed_records_are_not_measured() -> None:
    assert usage_of(with_calls(call())).measured
    assert not usage_of(with_calls(call(), call(replayed=True))).measured
    assert not usage_of(failed("q1")).measured
