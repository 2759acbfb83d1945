"""What servers answer in place of a reply, or a little beside the form of one: one row a quirk."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from arena.config import LLMSettings
from arena.errors import ModelSetupError, ProviderDownError, StrategyError
from arena.llm.body import MOST_BYTES
from arena.llm.client import LLMClient
from arena.protocols import Message, Reply
from arena.types import CallAttempt
from strategies.answer import spoken
from tests.unit.llm.asking import Waits, ask, asking, with_model
from tests.unit.llm.chat_server import Play, completion, continuation, failure, serving

USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
GOOD = completion("Oster", USAGE)


def settings(base_url: str, **values: object) -> LLMSettings:
    return LLMSettings.model_validate({"model": "openai:served", "base_url": base_url} | values)


def sent(body: Any, **headers: str) -> Play:
    return Play(body if isinstance(body, bytes) else json.dumps(body).encode(), headers=headers)


def saying(content: Any, **message: Any) -> Play:
    """A reply whose message is made up of these."""
    choice = {"message": {"content": content, **message}, "finish_reason": "stop"}
    return sent({"choices": [choice], "usage": USAGE})


NO_REPLIES = {
    "a web page": (sent(b"<html>login</html>", **{"Content-Type": "text/html"}), "a web page came instead of a reply"),
    "no UTF-8": (sent(b'{"choices": "\xff\xfe"}'), "bytes that are no UTF-8 text came instead of a reply"),
    "nothing": (sent(b""), "nothing came instead of a reply"),
    "a stream": (sent(b'data: {"choices": []}\n\ndata: [DONE]\n'), "a stream of events came instead of a reply"),
    "cut short": (sent(b'{"choices": [{"ind'), "a text that is no JSON, or was cut short, came instead of a reply"),
    "nested": (sent(b'{"choices": ' + b"[" * 100_000), "a text that is no JSON, or was cut short, came instead"),
    "a list": (sent([]), "JSON that is no object came instead of a reply"),
    "no choices": (sent({"choices": []}), "the reply has no choice"),
    "null choices": (sent({"choices": None}), "the reply has no choice"),
    "choices of null": (sent({"choices": [None]}), "the reply has no choice"),
    "no message": (sent({"choices": [{"finish_reason": "stop"}]}), "the reply's choice has no message"),
    "a number said": (saying(5), "the reply's content is a int without a text"),
    "an object said": (saying({"answer": "Oster"}), "the reply's content is a dict without a text"),
    "an error": (sent({"error": {"message": "busy"}}), "busy (an error in place of a reply, sent as HTTP 200)"),
    "an error of a word": (sent({"error": "busy"}), "busy (an error in place of a reply, sent as HTTP 200)"),
    "an error coded": (sent({"error": {"message": "busy", "code": 502}}), "HTTP 502: busy (an error in place"),
    "an error coded in a text": (sent({"error": {"message": "busy", "code": "429"}}), "HTTP 429: busy (an error"),
    "an error by name": (sent({"error": {"message": "busy", "type": "rate_limit_exceeded"}}), "HTTP 429: busy"),
    "an error beside": (sent({"choices": [{"error": {"code": 502, "message": "busy"}}]}), "HTTP 502: busy"),
    "garbled gzip": (sent(b"\x1f\x8bno", **{"Content-Encoding": "gzip"}), "the packed reply was cut short or garbled"),
}


@pytest.mark.parametrize("name", NO_REPLIES)
def test_what_is_no_reply_is_asked_for_again_and_called_by_its_name(name: str) -> None:
    play, message = NO_REPLIES[name]
    with serving(play, GOOD) as server:
        (reply,) = ask(settings(server.base_url))
    assert reply.text == "Oster"
    first, second = reply.call.attempts
    assert first.fault is not None
    assert first.fault.startswith(message)
    assert second.fault is None


@pytest.mark.parametrize("name", NO_REPLIES)
def test_a_server_that_gives_no_replies_is_down(name: str) -> None:
    async def use(model: LLMClient) -> str:
        for _ in range(2):
            await model.complete(asking())
        raise AssertionError("the breaker is closed")

    with serving(NO_REPLIES[name][0]) as server, pytest.raises(ProviderDownError):
        with_model(settings(server.base_url, max_attempts=2, breaker_failures=2), use)
    assert len(server.requests) == 4


def test_what_an_unusable_reply_counts_is_entered() -> None:
    with serving(sent({"choices": [], "usage": USAGE}), sent({"choices": []}), GOOD) as server:
        (reply,) = ask(settings(server.base_url))
    assert [(one.input_tokens, one.output_tokens) for one in reply.call.attempts] == [(11, 3), (None, None), (11, 3)]


def test_a_refusal_sent_as_a_success_is_a_refusal() -> None:
    refused = sent({"error": {"message": "the prompt exceeds the context", "code": 400}})
    with serving(refused) as server:
        (reply,) = ask(settings(server.base_url))
    assert (reply.text, len(reply.call.attempts), reply.call.input_tokens) == (None, 1, 0)
    with (
        serving(sent({"error": {"message": "pay", "code": "insufficient_quota"}})) as server,
        pytest.raises(ModelSetupError, match="quota and billing"),
    ):
        ask(settings(server.base_url))


def test_the_wait_that_an_error_sent_as_a_success_asks_for_is_kept() -> None:
    waits = Waits()
    with serving(sent({"error": {"message": "busy", "code": 429}}, **{"Retry-After": "12"}), GOOD) as server:
        ask(settings(server.base_url), waits=waits)
    assert waits.seconds == [12.0]


LIKE_REPLIES = {
    "no role": saying("Oster"),
    "another role": saying("Oster", role="model"),
    "parts": saying([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Oster"}], role="assistant"),
    "words": saying(["Os", "ter"], role="assistant"),
    "one part": saying({"type": "text", "text": "Oster"}, role="assistant"),
    "odd fields": saying("Oster", role=5, id=[], name={}, refusal=[], tool_calls=5, function_call="f", audio=3),
    "zipped": sent(gzip.compress(GOOD.body), **{"Content-Encoding": "gzip"}),
    "deflated": sent(zlib.compress(GOOD.body), **{"Content-Encoding": "deflate"}),
    "deflated bare": sent(zlib.compress(GOOD.body)[2:-4], **{"Content-Encoding": "deflate"}),
}


@pytest.mark.parametrize("name", LIKE_REPLIES)
def test_a_reply_a_little_beside_the_form_is_a_reply(name: str) -> None:
    with serving(LIKE_REPLIES[name]) as server:
        (reply,) = ask(settings(server.base_url))
    assert (reply.text, reply.call.error) == ("Oster", None)
    assert (reply.call.input_tokens, reply.call.output_tokens) == (11, 3)


@pytest.mark.parametrize(
    ("content", "beside"),
    [
        (None, {"reasoning_content": "Let me see."}),
        ("", {"reasoning": "Let me see."}),
        ("\n", {"reasoning": "Let me see."}),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}], {}),
    ],
)
def test_a_server_that_takes_reasoning_out_of_an_answer_is_asked_once(content: Any, beside: dict[str, str]) -> None:
    with serving(saying(content, **beside)) as server:
        (reply,) = ask(settings(server.base_url))
    assert (reply.text, len(reply.call.attempts), reply.call.error) == ("<think></think>", 1, None)
    assert (reply.call.input_tokens, reply.call.output_tokens) == (11, 3)
    with pytest.raises(StrategyError, match=r"is reasoning without an answer: if it was cut off, raise llm.max_tokens"):
        spoken(reply.text or "")


@pytest.mark.parametrize("prompt", ["go", None], ids=["continuation", "conversation"])
@pytest.mark.parametrize("kind", ["plain", "bomb", "unknown packing"])
def test_an_answer_without_end_is_a_failed_call(prompt: str | None, kind: str) -> None:
    if kind == "plain":
        play = sent(b" " * (MOST_BYTES + 1))
    elif kind == "bomb":
        play = sent(gzip.compress(bytes(8 * MOST_BYTES)), **{"Content-Encoding": "gzip"})
    else:
        play = sent(b"?", **{"Content-Encoding": "br"})
    with serving(play) as server:
        (reply,) = ask(settings(server.base_url), asking(prompt) if prompt else asking())
    assert (reply.text, len(reply.call.attempts)) == (None, 1)
    assert reply.call.error is not None
    wanted = "packed as 'br', which was not asked for" if kind == "unknown packing" else "longer than 16 MiB"
    assert wanted in reply.call.error


def test_a_redirect_is_named_and_the_prompt_not_sent_after_it() -> None:
    with serving(GOOD) as elsewhere:
        target = f"{elsewhere.base_url}/chat/completions".replace("http://", "http://u:pw@") + "?key=pw"
        sent_on = Play(status=307, headers={"Location": target})
        with serving(sent_on) as server, pytest.raises(ModelSetupError) as caught:
            ask(settings(server.base_url))
        assert elsewhere.requests == []
    assert f"sends every request on to '{elsewhere.base_url}/chat/completions' (HTTP 307)" in str(caught.value)
    assert "pw" not in str(caught.value)


def test_a_server_that_answers_any_path_with_success_is_told_from_a_model_server() -> None:
    wrong = sent({"error": "Unexpected endpoint or method. (GET /models)"})
    with serving(models=wrong) as server:
        with pytest.raises(ModelSetupError, match=r"has no /models there.*end in /v1"):
            ask(settings(server.base_url))
        assert server.requests == []
    with (
        serving(sent({"error": "Unexpected endpoint or method. (POST /chat/completions)"})) as server,
        pytest.raises(ModelSetupError, match=r"HTTP 404: Unexpected endpoint.*end in /v1"),
    ):
        ask(settings(server.base_url))


TALK = (
    Message("system", "be brief"),
    Message("user", "why?"),
    Message("user", "say"),
    Message("assistant", "so"),
    Message("user", "really?"),
)
BY_TWO = [("user", "be brief\n\nwhy?\n\nsay"), ("assistant", "so"), ("user", "really?")]


def template(body: dict[str, Any], *, system: str | None, alternating: str | None, status: int) -> Play:
    """A server whose chat template raises these complaints."""
    roles = [turn["role"] for turn in body["messages"]]
    if system is not None and "system" in roles:
        return failure(status, system)
    if alternating is not None and any(one == two for one, two in pairwise(roles)):
        return failure(status, alternating)
    return GOOD


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize(
    ("system", "alternating", "dropped", "turns"),
    [
        ("System role not supported", None, ("system_role",), [("user", "be brief\n\nwhy?"), ("user", "say")]),
        ("Only user and assistant roles are supported!", None, ("system_role",), [("user", "be brief\n\nwhy?")]),
        (
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            None,
            ("system_role",),
            [("user", "be brief\n\nwhy?")],
        ),
        (
            None,
            "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
            ("repeated_roles",),
            [("system", "be brief"), ("user", "why?\n\nsay"), ("assistant", "so"), ("user", "really?")],
        ),
        (
            "Conversation roles must alternate user/assistant/user/assistant/...",
            "Conversation roles must alternate user/assistant/user/assistant/...",
            ("repeated_roles", "system_role"),
            BY_TWO,
        ),
        ("System role not supported", "roles must alternate", ("repeated_roles", "system_role"), BY_TWO),
    ],
)
def test_a_template_is_given_the_same_words_in_the_form_it_takes(
    system: str | None, alternating: str | None, dropped: tuple[str, ...], turns: list[tuple[str, str]], status: int
) -> None:
    def react(body: dict[str, Any]) -> Play:
        return template(body, system=system, alternating=alternating, status=status)

    async def use(model: LLMClient) -> list[Reply]:
        return [await model.complete(asking(TALK)) for _ in range(2)]

    with serving(reaction=react) as server:
        replies = with_model(settings(server.base_url), use)
    last = [(turn["role"], turn["content"]) for turn in server.requests[-1]["messages"]]
    assert last[: len(turns)] == turns
    assert [(reply.text, reply.call.dropped) for reply in replies] == [("Oster", dropped)] * 2
    assert len(replies[1].call.attempts) == 1
    assert replies[0].call.input_tokens == 11


def test_a_failure_that_only_speaks_of_roles_is_no_refusal_of_them() -> None:
    with serving(failure(500, "the user role 'system' may not exceed its limit"), GOOD) as server:
        (reply,) = ask(settings(server.base_url), asking(TALK))
    assert (reply.text, reply.call.dropped) == ("Oster", ())


ODD_COUNTS = [20.5, -1, 10**25, 10**5000, "12", True, None, [], {}, float("nan"), float("inf")]


@pytest.mark.parametrize("prompt", ["go", None], ids=["continuation", "conversation"])
@pytest.mark.parametrize("odd", ODD_COUNTS, ids=lambda odd: repr(odd)[:12] if not isinstance(odd, int) else "number")
def test_a_count_that_is_none_is_unknown_in_every_place(prompt: str | None, odd: Any) -> None:
    """Of each kind in turn, the other three stay."""
    whole: dict[str, Any] = {
        "prompt_tokens": 11,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    places: list[tuple[str, ...]] = [("prompt_tokens",), ("completion_tokens",)]
    places += [("prompt_tokens_details", "cached_tokens"), ("completion_tokens_details", "reasoning_tokens")]
    plays = []
    for place in places:
        usage = json.loads(json.dumps(whole))
        holder = usage
        for part in place[:-1]:
            holder = usage[part]
        holder[place[-1]] = "ODD"
        body = completion("Oster", usage).body if prompt is None else continuation("Oster", usage).body
        plays.append(Play(body.replace(b'"ODD"', spelled(odd))))
    with serving(*plays) as server:
        replies = ask(settings(server.base_url), *[asking(prompt) if prompt else asking()] * 4)
    found = [
        (one.input_tokens, one.output_tokens, one.cached_input_tokens, one.reasoning_tokens)
        for reply in replies
        for one in reply.call.attempts
    ]
    assert found == [(None, 3, 8, 2), (11, None, 8, 2), (11, 3, None, 2), (11, 3, 8, None)]


def spelled(value: Any) -> bytes:
    """`value` in JSON, integers too long for Python to spell included."""
    return b"1" + b"0" * 5000 if value == 10**5000 else json.dumps(value).encode()


@pytest.mark.parametrize("usage", ["12", 12, [], {"prompt_tokens_details": 5, "completion_tokens_details": "x"}])
def test_counts_in_no_known_form_are_unknown(usage: Any) -> None:
    with serving(completion("Oster", usage)) as server:
        (reply,) = ask(settings(server.base_url))
    assert reply.text == "Oster"
    (attempt,) = reply.call.attempts
    assert replace(attempt, queue_seconds=0.0, service_seconds=0.0) == CallAttempt(None, None)


def test_a_whole_number_is_a_count_however_it_is_written() -> None:
    with serving(completion("Oster", {"prompt_tokens": 11.0, "completion_tokens": 3e0})) as server:
        (reply,) = ask(settings(server.base_url))
    assert (reply.call.input_tokens, reply.call.output_tokens) == (11, 3)
    assert isinstance(reply.call.input_tokens, int)
