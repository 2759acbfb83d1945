from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata

from arena.llm.response import Usage, read_finish_reason, read_text, read_usage


def test_text_blocks_are_joined_and_thinking_is_not_text() -> None:
    blocks: list[str | dict[Any, Any]] = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Oster"},
        {"type": "text", "text": "."},
    ]
    assert read_text(AIMessage(blocks)) == "Oster."


def test_counts_are_kept_as_given() -> None:
    usage = UsageMetadata(
        input_tokens=10,
        output_tokens=4,
        total_tokens=14,
        input_token_details=InputTokenDetails(cache_read=0),
        output_token_details=OutputTokenDetails(reasoning=3),
    )
    assert read_usage(AIMessage("x", usage_metadata=usage)) == Usage(10, 4, 0, 3)


@pytest.mark.parametrize(
    ("text", "counts", "usage"),
    [
        ("x", (0, 0), Usage()),
        ("", (7, 0), Usage(7, 0)),
        ("", (0, 0), Usage(None, 0)),
        ("x", (0, 2), Usage(None, 2)),
    ],
)
def test_a_count_that_cannot_be_zero_is_unknown(text: str, counts: tuple[int, int], usage: Usage) -> None:
    metadata = UsageMetadata(input_tokens=counts[0], output_tokens=counts[1], total_tokens=sum(counts))
    assert read_usage(AIMessage(text, usage_metadata=metadata)) == usage


def test_no_usage_is_all_unknown() -> None:
    assert read_usage(AIMessage("x")) == Usage(None, None, None, None)


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
