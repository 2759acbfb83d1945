from __future__ import annotations

from dataclasses import replace

import pytest

from arena.scoring import usage_of
from arena.types import LLMCall, RunRecord
from tests.samples import answered, call, failed


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


def test_replayed_failed_and_warming_records_are_not_measured() -> None:
    plain = usage_of(with_calls(call()))
    assert (plain.measured, plain.replayed, plain.warm_up) == (True, False, False)
    replayed = usage_of(with_calls(call(), call(replayed=True)))
    assert (replayed.measured, replayed.replayed) == (False, True)
    assert not usage_of(failed("q1")).measured
    warming = usage_of(replace(with_calls(call()), warm_up=True))
    assert (warming.measured, warming.warm_up) == (False, True)
    assert warming.latency_seconds == plain.latency_seconds
