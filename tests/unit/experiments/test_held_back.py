from __future__ import annotations

from dataclasses import replace

from arena.types import Failure, LLMCall, RunRecord
from experiments.held_back import HeldBack
from tests.samples import answered, call, failed


def replied(question_id: str, *calls: LLMCall) -> RunRecord:
    return replace(answered(question_id, "text"), calls=calls)


def without_reply(question_id: str, kind: str = "ModelCallError") -> RunRecord:
    return replace(failed(question_id), failure=Failure("model", kind, "no reply"))


def kept(*records: RunRecord, most: int = 8, release: bool = False) -> list[str]:
    """Ids of what is kept, in the order in which it is."""
    found: list[str] = []
    held = HeldBack(lambda record: found.append(record.question_id), most)
    for record in records:
        held.take(record)
    if release:
        held.release()
    return found


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
