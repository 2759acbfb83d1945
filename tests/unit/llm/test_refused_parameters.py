"""A parameter that a model does not take costs one refused request, once, and no call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from arena.config import LLMSettings
from arena.llm.client import LLMClient
from arena.protocols import Reply
from tests.unit.llm.asking import Waits, ask, ask_at_once, asking, with_model
from tests.unit.llm.chat_server import Play, completion, failure, serving

USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
SCHEMA = {"title": "Verdict", "type": "object", "properties": {"yes": {"type": "boolean"}}}


def settings(base_url: str, **values: Any) -> LLMSettings:
    return LLMSettings.model_validate({"model": "openai:served", "base_url": base_url} | values)


def refusing(*names: str) -> Callable[[dict[str, Any]], Play]:
    """A model that refuses the first of `names` which a request has."""

    def react(request: dict[str, Any]) -> Play:
        refused = next((name for name in names if name in request), None)
        if refused is None:
            return completion("ok", USAGE)
        message = f"Unsupported parameter: '{refused}' is not supported with this model."
        return failure(400, message, code="unsupported_parameter", param=refused)

    return react


@pytest.mark.parametrize(
    ("refused", "fields"),
    [
        ("temperature", {}),
        ("top_p", {}),
        ("seed", {}),
        ("stop", {"stop": ("\n",)}),
        ("logprobs", {"alternatives": 5}),
    ],
)
def test_a_refused_parameter_is_left_out_at_once_and_from_then_on(refused: str, fields: dict[str, Any]) -> None:
    waits = Waits()

    async def use(model: LLMClient) -> tuple[list[Reply], tuple[str, ...]]:
        return [await model.complete(asking(**fields)) for _ in range(2)], model.dropped

    with serving(reaction=refusing(refused)) as server:
        chosen = settings(server.base_url, top_p=0.9, max_attempts=1)
        (first, second), dropped = with_model(chosen, use, waits)
    assert [reply.text for reply in (first, second)] == ["ok", "ok"]
    assert first.call.dropped == second.call.dropped == dropped == (refused,)
    assert [refused in request for request in server.requests] == [True, False, False]
    assert waits.seconds == []
    attempt, answered = first.call.attempts
    assert (attempt.input_tokens, attempt.output_tokens) == (0, 0)
    assert refused in (attempt.fault or "")
    assert answered.fault is None
    assert (first.call.input_tokens, first.call.output_tokens) == (11, 3)


def test_what_a_call_did_not_ask_for_was_not_dropped_from_it() -> None:
    with serving(reaction=refusing("logprobs")) as server:
        judged, plain = ask(settings(server.base_url), asking(alternatives=5), asking())
    assert judged.call.dropped == ("logprobs",)
    assert plain.call.dropped == ()


def test_one_refusal_after_the_other() -> None:
    with serving(reaction=refusing("temperature", "seed", "logprobs")) as server:
        (reply,) = ask(settings(server.base_url), asking(alternatives=5))
    assert reply.text == "ok"
    assert reply.call.dropped == ("logprobs", "seed", "temperature")
    assert len(reply.call.attempts) == 4


def test_calls_at_the_same_time_all_get_their_reply() -> None:
    async def use(model: LLMClient) -> list[Reply]:
        return await ask_at_once(model, [asking()] * 6)

    with serving(reaction=refusing("temperature", "seed")) as server:
        replies = with_model(settings(server.base_url, max_attempts=1), use)
    assert [reply.text for reply in replies] == ["ok"] * 6
    assert all(reply.call.dropped == ("seed", "temperature") for reply in replies)


def test_the_bound_of_a_reply_is_sent_by_its_other_name() -> None:
    with serving(reaction=refusing("max_tokens")) as server:
        first, second = ask(settings(server.base_url, max_tokens=9), times=2)
    assert [request.get("max_completion_tokens") for request in server.requests] == [None, 9, 9]
    assert (first.text, first.call.dropped, len(first.call.attempts)) == ("ok", (), 2)
    assert len(second.call.attempts) == 1


def test_a_model_that_takes_no_bound_under_any_name_gets_none() -> None:
    with serving(reaction=refusing("max_tokens", "max_completion_tokens")) as server:
        (reply,) = ask(settings(server.base_url))
    assert (reply.text, reply.call.dropped) == ("ok", ("max_tokens",))


def test_a_schema_gives_way_to_json_mode_and_that_to_the_prompt_alone() -> None:
    def react(request: dict[str, Any]) -> Play:
        form = request.get("response_format", {}).get("type")
        if form is None:
            return completion('{"yes": true}', USAGE)
        return failure(400, f"'response_format' of type '{form}' is not supported with this model")

    with serving(reaction=react) as server:
        (reply,) = ask(settings(server.base_url), asking(json_schema=SCHEMA))
    sent = [request.get("response_format", {}).get("type") for request in server.requests]
    assert sent == ["json_schema", "json_object", None]
    assert (reply.text, reply.call.dropped) == ('{"yes": true}', ("json_mode", "json_schema"))


def test_fewer_alternatives_are_asked_for_when_the_server_names_its_bound() -> None:
    def react(request: dict[str, Any]) -> Play:
        if request["top_logprobs"] > 5:
            return failure(400, "Invalid value for 'top_logprobs': must be less than or equal to 5.")
        return completion("ok", USAGE)

    with serving(reaction=react) as server:
        replies = ask(settings(server.base_url), *[asking(alternatives=20)] * 2)
    assert [request["top_logprobs"] for request in server.requests] == [20, 5, 5]
    assert [reply.call.dropped for reply in replies] == [(), ()]


def test_a_stop_that_is_not_taken_ends_the_reply_all_the_same() -> None:
    def react(request: dict[str, Any]) -> Play:
        return refusing("stop")(request) if "stop" in request else completion("one\ntwo", USAGE, "length")

    with serving(reaction=react) as server:
        (reply,) = ask(settings(server.base_url), asking(stop=("\n",)))
    assert (reply.text, reply.call.finish_reason, reply.call.dropped) == ("one", "stop", ("stop",))


@pytest.mark.parametrize("status", [400, 422])
def test_a_complaint_that_names_no_parameter_is_lasting(status: int) -> None:
    with serving(failure(status, "the prompt is too long")) as server:
        (reply,) = ask(settings(server.base_url), asking(alternatives=5))
    assert reply.text is None
    assert (len(server.requests), reply.call.dropped) == (1, ())


def test_a_refusal_of_what_was_not_sent_does_not_go_round_in_circles() -> None:
    with serving(failure(400, "'temperature' is not supported")) as server:
        (reply,) = ask(settings(server.base_url))
    assert reply.text is None
    assert len(server.requests) == 2
