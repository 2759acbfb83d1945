from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.config import LLMSettings
from arena.errors import ModelSetupError
from arena.llm.client import LONGEST_RETRY_AFTER_SECONDS, LLMClient
from arena.llm.metering import prompt_sha
from arena.llm.opening import open_model
from arena.protocols import Message, Reply
from tests.unit.llm.asking import HELLO, Waits, ask, ask_at_once, asking, no_weights, scripted, with_model
from tests.virtual_time import in_virtual_time


def test_a_call_is_measured(tmp_path: Path) -> None:
    (reply,) = ask(scripted(tmp_path, {"replies": ["three little words"]}))
    assert reply.text == "three little words"
    assert (reply.call.input_tokens, reply.call.output_tokens) == (2, 3)
    assert (reply.call.role, reply.call.model) == ("generate", "fake:script.json")
    assert (len(reply.call.attempts), reply.call.finish_reason, reply.call.error) == (1, "stop", None)
    assert reply.call.prompt_sha == prompt_sha(HELLO)


def test_what_the_provider_does_not_count_is_unknown(tmp_path: Path) -> None:
    (reply,) = ask(scripted(tmp_path, {"rules": [{"reply": "hi", "usage": False}]}))
    assert reply.text == "hi"
    assert (reply.call.input_tokens, reply.call.output_tokens) == (None, None)
    assert (reply.call.cached_input_tokens, reply.call.reasoning_tokens) == (None, None)


@pytest.mark.parametrize("error", [408, 429, 500, 503, "timeout", "reset"])
def test_a_fault_that_may_pass_is_tried_again(tmp_path: Path, error: int | str) -> None:
    waits = Waits()
    script = {"rules": [{"error": error, "times": 2}], "replies": ["late"]}
    (reply,) = ask(scripted(tmp_path, script), waits=waits)
    assert reply.text == "late"
    assert (len(reply.call.attempts), reply.call.error) == (3, None)
    assert len(waits.seconds) == 2
    assert 0.25 <= waits.seconds[0] <= 0.5 <= waits.seconds[1] <= 1.0


def test_attempts_are_bounded(tmp_path: Path) -> None:
    waits = Waits()
    (reply,) = ask(scripted(tmp_path, {"rules": [{"error": 500}]}, max_attempts=3), waits=waits)
    assert reply.text is None
    assert len(reply.call.attempts) == 3
    assert reply.call.error is not None
    assert "HTTP 500" in reply.call.error
    assert len(waits.seconds) == 2


def test_a_fault_that_will_not_pass_is_not_tried_again(tmp_path: Path) -> None:
    waits = Waits()
    first, second = ask(scripted(tmp_path, {"rules": [{"error": 400, "times": 1}]}), times=2, waits=waits)
    assert first.text is None
    assert len(first.call.attempts) == 1
    assert (first.call.input_tokens, first.call.output_tokens) == (0, 0)
    assert waits.seconds == []
    assert second.text is not None


def test_retry_after_is_honoured(tmp_path: Path) -> None:
    waits = Waits()
    script = {"rules": [{"error": 429, "retry_after_seconds": 7, "times": 1}]}
    (reply,) = ask(scripted(tmp_path, script), waits=waits)
    assert len(reply.call.attempts) == 2
    assert waits.seconds == [7.0]


def test_a_retry_after_beyond_patience_ends_the_call(tmp_path: Path) -> None:
    waits = Waits()
    script = {"rules": [{"error": 429, "retry_after_seconds": LONGEST_RETRY_AFTER_SECONDS + 1, "times": 1}]}
    (reply,) = ask(scripted(tmp_path, script), waits=waits)
    assert reply.text is None
    assert waits.seconds == []


@pytest.mark.parametrize(("status", "advice"), [(401, "key"), (403, "key"), (404, "model's name"), (402, "billing")])
def test_what_every_call_would_meet_stops_the_run(tmp_path: Path, status: int, advice: str) -> None:
    with pytest.raises(ModelSetupError, match=f"HTTP {status}.*{advice}"):
        ask(scripted(tmp_path, {"rules": [{"error": status}]}))


def test_a_silent_provider_is_given_up(tmp_path: Path) -> None:
    settings = scripted(tmp_path, {"latency_seconds": 60}, timeout_seconds=0.01, max_attempts=2)
    (reply,) = ask(settings)
    assert reply.call.error == "no reply within 0.01 s"
    assert len(reply.call.attempts) == 2


def test_an_error_message_can_be_written_down(tmp_path: Path) -> None:
    (reply,) = ask(scripted(tmp_path, {"rules": [{"error": 400, "message": "no \ud800"}]}))
    assert reply.call.error is not None
    assert reply.call.error.endswith("no ?")


def test_backing_off_is_neither_queueing_nor_service(tmp_path: Path) -> None:
    settings = scripted(tmp_path, {"rules": [{"error": 500, "times": 2}], "replies": ["late"], "latency_seconds": 2})

    async def use() -> Reply:
        now = asyncio.get_running_loop().time
        async with open_model(settings, weights=no_weights, clock=now) as model:
            return await model.complete(asking())

    call = in_virtual_time(use).call
    assert (len(call.attempts), call.queue_seconds) == (3, 0.0)
    assert call.service_seconds == pytest.approx(6.0)
    assert 0.75 <= call.backoff_seconds <= 1.5


def test_back_off_depends_on_the_seed_alone(tmp_path: Path) -> None:
    def waits_with(seed: int) -> list[float]:
        waits = Waits()
        ask(scripted(tmp_path, {"rules": [{"error": 500}]}, seed=seed), waits=waits)
        return waits.seconds

    assert waits_with(1) == waits_with(1)
    assert waits_with(1) != waits_with(2)


def test_a_call_may_ask_for_more_room_and_never_gets_less(tmp_path: Path) -> None:
    async def use(model: LLMClient) -> list[Reply]:
        return [await model.complete(asking(room=room)) for room in (None, 2, 5, None)]

    replies = with_model(scripted(tmp_path, {"rules": [{"reply": "a b c d e"}]}, max_tokens=4), use)
    assert [reply.text for reply in replies] == ["a b c d", "a b c d", "a b c d e", "a b c d"]
    assert [reply.call.finish_reason for reply in replies] == ["length", "length", "stop", "length"]


def test_queueing_is_not_service(tmp_path: Path) -> None:
    settings = scripted(tmp_path, {"latency_seconds": 2}, concurrency=1)

    async def use() -> list[Reply]:
        now = asyncio.get_running_loop().time
        async with open_model(settings, weights=no_weights, clock=now) as model:
            return await ask_at_once(model, [asking()] * 4)

    calls = [reply.call for reply in in_virtual_time(use)]
    assert [call.service_seconds for call in calls] == pytest.approx([2.0] * 4)
    assert sorted(call.queue_seconds for call in calls) == pytest.approx([0.0, 2.0, 4.0, 6.0])


def test_the_built_in_fake_needs_no_script() -> None:
    (reply,) = ask(LLMSettings(model="fake:"))
    assert reply.text == "I don't know"
    assert reply.call.model == "fake:"


MESSAGES = st.lists(
    st.builds(Message, role=st.sampled_from(["system", "user", "assistant"]), content=st.text()), max_size=3
)


@given(MESSAGES, MESSAGES)
def test_the_hash_of_a_prompt_tells_prompts_apart(first: list[Message], second: list[Message]) -> None:
    assert (prompt_sha(first) == prompt_sha(second)) == (first == second)


def test_the_hash_of_a_prompt_stays_what_it_was() -> None:
    assert prompt_sha(HELLO) == "e1615c6d75255280"
