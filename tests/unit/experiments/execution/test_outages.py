from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from arena.errors import ProviderDownError
from arena.types import Failure, LLMCall, RunRecord
from experiments.execution.asking import OutageBuffer
from tests.samples import answered, call, cell, failed
from tests.unit.contestants import into


def replied(question_id: str, *calls: LLMCall) -> RunRecord:
    return replace(answered(question_id, "text"), calls=calls)


def without_reply(question_id: str, kind: str = "ModelCallError") -> RunRecord:
    return replace(failed(question_id), failure=Failure("model", kind, "no reply"))


def given_up(question_id: str, *calls: LLMCall) -> RunRecord:
    """Out of time, after these calls."""
    return replace(failed(question_id), failure=Failure("timeout", "TimeoutError", "too long"), calls=calls)


def kept(*records: RunRecord, most: int = 8, release: bool = False) -> list[str]:
    """Ids of what is kept, in the order in which it is."""
    found: list[RunRecord] = []
    held = OutageBuffer(into(found), most)

    async def main() -> None:
        for record in records:
            await held.take(record)
        if release:
            await held.release()

    anyio.run(main)
    return [record.question_id for record in found]


def test_what_failed_since_the_last_reply_is_not_kept() -> None:
    assert kept(replied("a", call()), without_reply("b"), without_reply("c")) == ["a"]


def test_a_reply_shows_that_the_provider_was_up() -> None:
    assert kept(without_reply("a"), without_reply("b"), replied("c", call())) == ["a", "b", "c"]


def test_a_replayed_reply_and_a_question_without_a_call_show_nothing() -> None:
    replayed = replied("b", call(replayed=True))
    assert kept(without_reply("a"), replayed, replied("c")) == ["b", "c"]


def test_an_unreadable_reply_is_a_result() -> None:
    assert kept(without_reply("a", "UnreadableReplyError"), without_reply("b", "AllowanceSpent")) == ["a", "b"]


def test_so_many_failures_that_did_not_stop_the_run_are_a_result() -> None:
    assert kept(*map(without_reply, "abcd"), most=2) == ["a", "b"]


def test_a_run_that_ends_keeps_them() -> None:
    assert kept(without_reply("a"), without_reply("b"), release=True) == ["a", "b"]


def test_a_question_out_of_time_is_no_result_until_a_reply_shows_that_the_provider_was_up() -> None:
    assert kept(given_up("a"), given_up("b", call())) == []
    assert kept(given_up("a"), given_up("b", call()), replied("c", call())) == ["a", "b", "c"]


def test_questions_that_get_no_reply_in_time_one_after_the_other_stop_the_run() -> None:
    with pytest.raises(ProviderDownError, match=r"3 questions in a row .* the last of them 'c'"):
        kept(*map(given_up, "abc"), most=2)


def test_slow_questions_whose_calls_are_answered_are_results() -> None:
    assert kept(given_up("a"), given_up("b", call()), given_up("c"), most=2) == ["a"]


def test_a_cell_without_a_model_waits_for_no_provider() -> None:
    slow = replace(given_up("a"), cell=replace(cell(), llm=None))
    assert kept(slow) == ["a"]
