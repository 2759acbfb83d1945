"""The whole way through LangChain and the OpenAI package to a server and back."""

from __future__ import annotations

import logging
import threading

import pytest

from arena.config import LLMSettings
from arena.errors import ModelSetupError
from arena.llm.client import LLMClient
from arena.protocols import Message, Reply
from tests.patience import PATIENCE_SECONDS
from tests.unit.llm.asking import Waits, ask, ask_at_once, asking, with_model
from tests.unit.llm.chat_server import Play, completion, failure, serving

CANARY = "sk-canary-4711"
USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}


def settings(base_url: str, **values: object) -> LLMSettings:
    return LLMSettings.model_validate({"model": "openai:served", "base_url": base_url} | values)


def test_what_is_sent_is_what_was_asked_for() -> None:
    conversation = (Message("system", "be brief"), Message("user", "{why}?"), Message("assistant", "so"))

    async def use(model: LLMClient) -> Reply:
        return await model.complete(asking(conversation, room=900))

    with serving(completion("because", USAGE)) as server:
        reply = with_model(settings(server.base_url, temperature=0.5, seed=3), use)
    assert reply.text == "because"
    (sent,) = server.requests
    assert sent["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "{why}?"},
        {"role": "assistant", "content": "so"},
    ]
    assert (sent["model"], sent["max_tokens"], sent["temperature"], sent["seed"]) == ("served", 900, 0.5, 3)


def test_a_seed_that_is_not_set_is_not_sent() -> None:
    with serving(completion("ok", USAGE)) as server:
        ask(settings(server.base_url, seed=None))
    assert "seed" not in server.requests[0]


def test_every_count_of_the_server_is_kept() -> None:
    usage = USAGE | {
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    with serving(completion("ok", usage, finish_reason="length")) as server:
        (reply,) = ask(settings(server.base_url))
    call = reply.call
    assert (call.input_tokens, call.output_tokens) == (11, 3)
    assert (call.cached_input_tokens, call.reasoning_tokens) == (8, 2)
    assert call.finish_reason == "length"


@pytest.mark.parametrize("usage", [None, {}, {"total_tokens": 14}])
def test_counts_the_server_leaves_out_are_unknown(usage: dict[str, int] | None) -> None:
    with serving(completion("ok", usage)) as server:
        (reply,) = ask(settings(server.base_url))
    assert (reply.call.input_tokens, reply.call.output_tokens) == (None, None)


def test_an_empty_reply_is_paid_for_and_asked_for_again() -> None:
    empty = completion("", {"prompt_tokens": 11, "completion_tokens": 0, "total_tokens": 11})
    with serving(empty, completion("ok", USAGE)) as server:
        (reply,) = ask(settings(server.base_url))
    assert (reply.text, reply.call.error) == ("ok", None)
    assert [attempt.fault is None for attempt in reply.call.attempts] == [False, True]
    assert (reply.call.input_tokens, reply.call.output_tokens) == (22, 3)


def test_a_reply_without_words_that_was_cut_off_or_reasoned_about_is_a_reply() -> None:
    thought = USAGE | {"completion_tokens_details": {"reasoning_tokens": 3}}
    with serving(completion("", USAGE, finish_reason="length"), completion("", thought)) as server:
        replies = ask(settings(server.base_url), times=2)
    assert [(reply.text, reply.call.finish_reason) for reply in replies] == [("", "length"), ("", "stop")]


def test_a_withheld_reply_is_a_failed_call() -> None:
    with serving(completion("", USAGE, finish_reason="content_filter")) as server:
        (reply,) = ask(settings(server.base_url))
    assert reply.text is None
    assert reply.call.error == "the provider withheld the reply (it ended with 'content_filter')"
    assert (len(reply.call.attempts), reply.call.input_tokens) == (1, 11)


@pytest.mark.parametrize(
    "fault",
    [
        failure(429),
        failure(500),
        failure(503),
        Play(reset=True),
        Play(b'{"choices": [{"ind'),
    ],
    ids=["429", "500", "503", "reset", "garbled"],
)
def test_one_bad_attempt_costs_one_attempt(fault: Play) -> None:
    waits = Waits()
    with serving(fault, completion("ok", USAGE)) as server:
        (reply,) = ask(settings(server.base_url), waits=waits)
    assert reply.text == "ok"
    assert len(reply.call.attempts) == 2
    assert len(server.requests) == 2
    assert len(waits.seconds) == 1


def test_the_servers_retry_after_is_honoured() -> None:
    waits = Waits()
    with serving(failure(429, headers={"Retry-After": "12"}), completion("ok", USAGE)) as server:
        ask(settings(server.base_url), waits=waits)
    assert waits.seconds == [12.0]


def test_a_prompt_that_is_refused_is_a_failed_call() -> None:
    with serving(failure(400, "the prompt exceeds the context")) as server:
        (reply,) = ask(settings(server.base_url))
    assert reply.text is None
    assert reply.call.error
    assert len(reply.call.attempts) == 1


def test_an_exhausted_quota_stops_the_run() -> None:
    with (
        serving(failure(429, "pay", code="insufficient_quota")) as server,
        pytest.raises(ModelSetupError, match=r"HTTP 429.*quota and billing"),
    ):
        ask(settings(server.base_url))


def test_an_unknown_model_stops_the_run_and_names_the_server() -> None:
    with serving(failure(404, "no model 'served'")) as server:
        with pytest.raises(ModelSetupError) as caught:
            ask(settings(server.base_url))
        assert server.base_url in str(caught.value)
    assert "'openai:served'" in str(caught.value)
    assert "base_url" in str(caught.value)


def test_no_more_calls_are_in_flight_than_allowed() -> None:
    async def use(model: LLMClient) -> list[Reply]:
        return await ask_at_once(model, [asking()] * 6)

    busy = completion("ok", USAGE)
    both_are_in = threading.Barrier(2, timeout=PATIENCE_SECONDS)
    with serving(Play(busy.body, after=both_are_in.wait)) as server:
        with_model(settings(server.base_url, concurrency=2), use)
    assert len(server.requests) == 6
    assert server.most_in_flight == 2


def test_a_slow_server_is_not_waited_for() -> None:
    with serving(Play(completion("late").body, silent=True)) as server:
        (reply,) = ask(settings(server.base_url, timeout_seconds=0.05, max_attempts=1))
    assert reply.text is None
    assert reply.call.error is not None


class TestKeys:
    def test_a_server_without_keys_gets_none_of_ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        with serving(completion("ok", USAGE)) as server:
            ask(settings(server.base_url))
        assert all(CANARY not in (key or "") for key in server.keys)

    def test_the_key_of_the_named_variable_is_sent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_KEY", CANARY)
        with serving(completion("ok", USAGE)) as server:
            ask(settings(server.base_url, api_key_variable="MY_KEY"))
        assert server.keys == [f"Bearer {CANARY}"] * 2

    @pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
    def test_a_key_echoed_by_the_server_is_hidden(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int
    ) -> None:
        monkeypatch.setenv("MY_KEY", CANARY)
        caplog.set_level(logging.DEBUG, "arena")
        with serving(failure(status, f"bad key {CANARY}")) as server:
            try:
                (reply,) = ask(settings(server.base_url, api_key_variable="MY_KEY", max_attempts=1))
                told = str(reply.call.error)
            except ModelSetupError as error:
                told = str(error)
        assert "bad key [hidden]" in told
        assert CANARY not in told + caplog.text

    def test_a_refused_key_is_told_before_the_first_question(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MY_KEY", CANARY)
        with (
            serving(models=failure(401, f"bad key {CANARY}")) as server,
            pytest.raises(ModelSetupError, match=r"refuses the key \(HTTP 401\).*\$MY_KEY") as caught,
        ):
            ask(settings(server.base_url, api_key_variable="MY_KEY"))
        assert CANARY not in str(caught.value)
        assert server.requests == []


def test_a_server_that_lists_no_models_is_there() -> None:
    with serving(completion("ok", USAGE), models=failure(404)) as server:
        (reply,) = ask(settings(server.base_url))
    assert reply.text == "ok"
