from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata

from arena.llm.wire import (
    Response,
    TokenUsage,
    read_completion,
    read_finish_reason,
    read_message,
    read_text,
    read_usage,
)


def test_text_blocks_are_joined_and_thinking_is_not_text() -> None:
    blocks: list[str | dict[Any, Any]] = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Oster"},
        {"type": "text", "text": "."},
    ]
    assert read_text(AIMessage(blocks)) == "Oster."


THOUGHT = "<think></think>"


@pytest.mark.parametrize(
    ("content", "fields", "finish_reason", "text"),
    [
        ("", {"reasoning_content": "hm"}, "stop", THOUGHT),
        (" \n", {"reasoning": "hm"}, "stop", THOUGHT),
        ("", {"reasoning_content": "hm"}, "length", "<think>"),
        ("", {"reasoning_content": "hm"}, "content_filter", ""),
        ("", {"reasoning_content": " \n", "reasoning": None}, "stop", ""),
        ([{"type": "thinking", "thinking": "hm"}], {}, "end_turn", THOUGHT),
        ([{"type": "text", "text": ""}], {}, "stop", ""),
        ("Oster", {"reasoning_content": "hm"}, "stop", "Oster"),
        ("", {"refusal": "I will not.", "reasoning_content": "hm"}, "stop", "I will not."),
    ],
)
def test_reasoning_that_led_to_no_word_is_a_reply_of_reasoning(
    content: Any, fields: dict[str, Any], finish_reason: str, text: str
) -> None:
    found = read_message(
        AIMessage(content, additional_kwargs=fields, response_metadata={"finish_reason": finish_reason})
    )
    assert found.text.strip() == text
    assert found.is_empty is not bool(text)


def test_counts_are_kept_as_given() -> None:
    usage = UsageMetadata(
        input_tokens=10,
        output_tokens=4,
        total_tokens=14,
        input_token_details=InputTokenDetails(cache_read=0),
        output_token_details=OutputTokenDetails(reasoning=3),
    )
    assert read_usage(AIMessage("x", usage_metadata=usage)) == TokenUsage(10, 4, 0, 3)


@pytest.mark.parametrize(
    ("text", "counts", "usage"),
    [
        ("x", (0, 0), TokenUsage()),
        ("", (7, 0), TokenUsage(7, 0)),
        ("", (0, 0), TokenUsage(None, 0)),
        ("x", (0, 2), TokenUsage(None, 2)),
    ],
)
def test_a_count_that_cannot_be_zero_is_unknown(text: str, counts: tuple[int, int], usage: TokenUsage) -> None:
    metadata = UsageMetadata(input_tokens=counts[0], output_tokens=counts[1], total_tokens=sum(counts))
    assert read_usage(AIMessage(text, usage_metadata=metadata)) == usage


def test_no_usage_is_all_unknown() -> None:
    assert read_usage(AIMessage("x")) == TokenUsage(None, None, None, None)


@given(st.text(st.characters(codec=None)))
def test_whatever_a_server_sends_can_be_written_down(sent: str) -> None:
    message = AIMessage(sent, response_metadata={"finish_reason": sent})
    for read in (read_text(message), read_finish_reason(message)):
        assert read is not None
        assert read.encode() == sent.encode("utf-8", "replace")


@pytest.mark.parametrize("key", ["finish_reason", "stop_reason", "done_reason"])
def test_every_providers_word_for_the_end_is_read(key: str) -> None:
    assert read_finish_reason(AIMessage("x", response_metadata={key: "length"})) == "length"


def test_no_word_for_the_end_is_unknown() -> None:
    assert read_finish_reason(AIMessage("x", response_metadata={"finish_reason": None})) is None


def test_the_words_of_a_refusal_are_a_reply() -> None:
    assert read_text(AIMessage("", additional_kwargs={"refusal": "I will not."})) == "I will not."
    assert read_text(AIMessage("so", additional_kwargs={"refusal": None})) == "so"


@pytest.mark.parametrize(
    ("response", "empty", "withheld"),
    [
        (Response("x", TokenUsage(), "stop"), False, False),
        (Response("", TokenUsage(), "stop"), True, False),
        (Response(" \n", TokenUsage(7, 1)), True, False),
        (Response("", TokenUsage(), "length"), False, False),
        (Response("", TokenUsage(), "max_tokens"), False, False),
        (Response("", TokenUsage(7, 9, None, 9), "stop"), False, False),
        (Response("", TokenUsage(7, 9, None, 0), "stop"), True, False),
        (Response("", TokenUsage(), "content_filter"), True, True),
        (Response("", TokenUsage(), "SAFETY"), True, True),
        (Response("x", TokenUsage(), "content_filter"), False, False),
    ],
)
def test_why_a_response_has_no_text(response: Response, empty: bool, withheld: bool) -> None:
    assert (response.is_empty, response.is_withheld) == (empty, withheld)


def test_a_message_is_read_with_its_tokens() -> None:
    logprobs = {"content": [{"token": "so", "logprob": -0.5}]}
    found = read_message(AIMessage("so", response_metadata={"finish_reason": "stop", "logprobs": logprobs}))
    assert (found.text, found.finish_reason, [token.text for token in found.tokens]) == ("so", "stop", ["so"])


def test_a_completion_is_read() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    found = read_completion({"choices": [{"text": "so \ud800", "finish_reason": "length"}], "usage": usage})
    assert found == Response("so ?", TokenUsage(5, 2, 4, None), "length")


@given(st.dictionaries(st.text(), st.none() | st.lists(st.none() | st.dictionaries(st.text(), st.text()))))
def test_a_body_that_is_no_completion_is_refused_or_read(body: dict[str, Any]) -> None:
    try:
        found = read_completion(body)
    except ValueError:
        return
    assert found.tokens == ()
