"""What a provider's response says: its text, how it ended, and the tokens it counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from arena.llm.token_choices import choices_of_text, cut_at, read_choices
from arena.protocols import Reply, TokenChoice
from arena.text import THINK, Marks, marked_as_thought
from arena.types import known_count, was_cut, well_formed

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

# OpenAI and its kin; Anthropic; Ollama.
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason")
_WITHHELD = frozenset({"content_filter", "safety", "blocklist", "prohibited_content", "recitation", "refusal"})
# DeepSeek, LangChain and older vLLM; newer vLLM and OpenRouter; Ollama. Then Anthropic's and Mistral's, and OpenAI's.
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")
_THOUGHT_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of the provider, None = it did not say. `input` includes `cached`, `output` includes `reasoning`."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None

    @property
    def total(self) -> int | None:
        return None if self.input is None or self.output is None else self.input + self.output


@dataclass(frozen=True, slots=True)
class Response:
    """A response that was well-formed. `tokens` spell `text`; none where the provider gave no log-probabilities."""

    text: str
    usage: Usage
    finish_reason: str | None = None
    tokens: tuple[TokenChoice, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Nothing was written, and neither the token limit nor reasoning accounts for it."""
        return not self.text.strip() and not was_cut(self.finish_reason) and not self.usage.reasoning

    @property
    def is_withheld(self) -> bool:
        """There is no text because the provider's filter took it away or the model declined."""
        return not self.text.strip() and (self.finish_reason or "").lower() in _WITHHELD

    def ending_before(self, stop: Sequence[str]) -> Response:
        """This response, ended before the first of the `stop` strings where the provider did not see to it."""
        text, tokens = cut_at(self.text, self.tokens, stop)
        return self if text == self.text else replace(self, text=text, tokens=tokens, finish_reason="stop")


def as_spoken(reply: Reply, marks: Marks) -> Reply:
    """`reply` with its reasoning between `<think>` and `</think>`, and without what a template puts around a turn.

    Its tokens are kept where they still begin to spell its text.
    """
    if reply.text is None:
        return reply
    text = marked_as_thought(reply.text, marks)
    if text == reply.text:
        return reply
    return replace(reply, text=text, tokens=reply.tokens if reply.text.startswith(text) else ())


def read_message(message: AIMessage) -> Response:
    """A reply to a conversation."""
    finish_reason = read_finish_reason(message)
    text = read_text(message)
    if not text.strip():
        text = thought_alone(message.additional_kwargs, message.content, finish_reason) or text
    choices = read_choices(message.response_metadata.get("logprobs"))
    return Response(text, read_usage(message), finish_reason, choices_of_text(choices, text))


def thought_alone(fields: Mapping[str, Any], content: Any, finish_reason: str | None) -> str:
    """What stands for the text of a message that has none of its own, and holds reasoning beside it or in its parts.

    The bare marks of that reasoning, without an end where the reply was cut: the model did reply, at full price, and
    is likely to do the same again. Empty where there is no reasoning, or the provider took the text away.
    """
    parts = content if isinstance(content, list) else ()
    thought = any(str(fields.get(name) or "").strip() for name in _THOUGHT_FIELDS) or any(
        isinstance(part, Mapping) and part.get("type") in _THOUGHT_PARTS for part in parts
    )
    if not thought or (finish_reason or "").lower() in _WITHHELD:
        return ""
    opened, closed = THINK
    return opened if was_cut(finish_reason) else opened + closed


def read_completion(body: Mapping[str, Any]) -> Response:
    """A continuation of a text, in OpenAI's form.

    Raises:
        ValueError: the body has no choice, or an error in its place.
    """
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ValueError(f"a completion without a choice: {str(body.get('error') or sorted(map(str, body)))[:200]}")
    choice = choices[0]
    finish = choice.get("finish_reason")
    return Response(
        well_formed(str(choice.get("text") or "")),
        usage_of(body),
        None if finish is None else well_formed(str(finish)),
        read_choices(choice.get("logprobs")),
    )


def read_text(message: AIMessage) -> str:
    """The reply's text: all its text blocks in order, well-formed, else the words it was refused in, else empty."""
    return well_formed(str(message.text) or str(message.additional_kwargs.get("refusal") or ""))


def read_usage(message: AIMessage) -> Usage:
    """The counts of `message`.

    LangChain writes 0 for a count that the provider left out. No prompt has 0 tokens and no text takes 0
    tokens to write, so such a 0 is read back as unknown.
    """
    usage: Mapping[str, Any] = message.usage_metadata or {}
    output = known_count(usage.get("output_tokens"))
    return Usage(
        input=known_count(usage.get("input_tokens")) or None,
        output=None if output == 0 and read_text(message) else output,
        cached=_detail(usage, "input_token_details", "cache_read"),
        reasoning=_detail(usage, "output_token_details", "reasoning"),
    )


def usage_of(body: Any) -> Usage:
    """The counts that a server's answer in OpenAI's form holds, whatever else is wrong with it."""
    usage = body.get("usage") if isinstance(body, Mapping) else None
    if not isinstance(usage, Mapping):
        return Usage()
    return Usage(
        known_count(usage.get("prompt_tokens")),
        known_count(usage.get("completion_tokens")),
        _detail(usage, "prompt_tokens_details", "cached_tokens"),
        _detail(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def _detail(usage: Mapping[str, Any], part: str, name: str) -> int | None:
    details = usage.get(part)
    return known_count(details.get(name)) if isinstance(details, Mapping) else None


def read_finish_reason(message: AIMessage) -> str | None:
    """The provider's own word for why the reply ended (`stop`, `length`, `end_turn`, ...)."""
    for key in _FINISH_KEYS:
        value = message.response_metadata.get(key)
        if value is not None:
            return well_formed(str(value))
    return None
