"""What every attempt of a call cost: known, nothing, or unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from arena.config import LLMSettings
from arena.types import CallAttempt, LLMCall
from tests.patience import PATIENCE_SECONDS
from tests.unit.llm.asking import ask
from tests.unit.llm.chat_server import Play, completion, failure, serving

USAGE = {
    "prompt_tokens": 11,
    "completion_tokens": 3,
    "total_tokens": 14,
    "prompt_tokens_details": {"cached_tokens": 8},
    "completion_tokens_details": {"reasoning_tokens": 2},
}
PAID = CallAttempt(11, 3, 8, 2)
REFUSED = CallAttempt(0, 0)
UNKNOWN = CallAttempt(None, None)


def call_after(*plays: Play, **values: Any) -> LLMCall:
    with serving(*plays) as server:
        timeout_seconds = 0.4 if any(play.silent for play in plays) else PATIENCE_SECONDS
        settings = {"model": "openai:served", "base_url": server.base_url, "timeout_seconds": timeout_seconds} | values
        (reply,) = ask(LLMSettings.model_validate(settings))
    return reply.call


def tokens(call: LLMCall) -> list[CallAttempt]:
    return [replace(attempt, queue_seconds=0.0, service_seconds=0.0, fault=None) for attempt in call.attempts]


@pytest.mark.parametrize(
    ("fault", "cost"),
    [
        (failure(429), REFUSED),
        (failure(429, headers={"Retry-After": "1"}), REFUSED),
        (failure(500), REFUSED),
        (failure(503), REFUSED),
        (failure(504), UNKNOWN),
        (Play(reset=True), UNKNOWN),
        (Play(b'{"choices": [{"ind'), UNKNOWN),
        (Play(completion("late").body, silent=True), UNKNOWN),
    ],
    ids=["429", "429 with Retry-After", "500", "503", "504", "reset", "garbled", "timeout"],
)
def test_an_attempt_that_brought_nothing(fault: Play, cost: CallAttempt) -> None:
    call = call_after(fault, completion("ok", USAGE))
    assert tokens(call) == [cost, PAID]
    assert [attempt.fault is None for attempt in call.attempts] == [False, True]
    assert call.input_tokens == (11 if cost is REFUSED else None)


def test_a_reply_without_counts() -> None:
    assert tokens(call_after(completion("ok"))) == [UNKNOWN]


def test_a_failed_call_keeps_every_attempt() -> None:
    empty = completion("", {"prompt_tokens": 11, "completion_tokens": 1})
    call = call_after(failure(500), empty, Play(reset=True), max_attempts=3)
    assert tokens(call) == [REFUSED, CallAttempt(11, 1), UNKNOWN]
    assert call.error is not None
    assert (call.input_tokens, call.output_tokens) == (None, None)


def test_every_attempt_has_its_own_seconds() -> None:
    slow = completion("ok", USAGE)
    call = call_after(failure(500), Play(slow.body, delay_seconds=0.1))
    first, second = call.attempts
    assert second.service_seconds >= 0.1
    assert call.service_seconds == first.service_seconds + second.service_seconds


def test_an_empty_reply_after_all_attempts_fails_the_call_with_its_tokens() -> None:
    call = call_after(completion(" \n", USAGE | {"completion_tokens_details": None}), max_attempts=2)
    assert call.error == "an empty reply (it ended with 'stop')"
    assert (call.input_tokens, call.output_tokens) == (22, 6)
