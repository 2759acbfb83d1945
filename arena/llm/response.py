"""What a LangChain reply says: its text, how it ended, and the tokens the provider counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.types import well_formed

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

# OpenAI and its kin; Anthropic; Ollama.
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason")


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of the provider, None = it did not say. `input` includes `cached`, `output` includes `reasoning`."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


def read_text(message: AIMessage) -> str:
    """The reply's text: all its text blocks in order, well-formed, empty when it has none."""
    return well_formed(str(message.text))


def read_usage(message: AIMessage) -> Usage:
    """The counts of `message`.

    LangChain writes 0 for a count that the provider left out. No prompt has 0 tokens and no text takes 0
    tokens to write, so such a 0 is read back as unknown.
    """
    usage = message.usage_metadata
    if usage is None:
        return Usage()
    return Usage(
        input=usage["input_tokens"] or None,
        output=None if usage["output_tokens"] == 0 and read_text(message) else usage["output_tokens"],
        cached=usage.get("input_token_details", {}).get("cache_read"),
        reasoning=usage.get("output_token_details", {}).get("reasoning"),
    )


def read_finish_reason(message: AIMessage) -> str | None:
    """The provider's own word for why the reply ended (`stop`, `length`, `end_turn`, ...)."""
    for key in _FINISH_KEYS:
        value = message.response_metadata.get(key)
        if value is not None:
            return well_formed(str(value))
    return None
