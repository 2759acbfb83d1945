"""The wire to one language model: how requests are put, how responses are read, and how the model is reached.

A request is a conversation with parameters, on the LangChain model or beside it, or a text to be continued by the
completions endpoint. A response gives its text, how it ended, and the tokens that the provider counted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from arena.llm.labels import choices_of_text, cut_at, read_choices
from arena.llm.parameters import JSON_SCHEMA, Parameters
from arena.protocols import Message, Reply, TokenChoice
from arena.text import THINK, Marks, marked_as_thought
from arena.types import known_count, was_cut, well_formed

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from openai import AsyncOpenAI

# Settings of every LangChain model: replies are fetched whole, because streamed ones lose their token counts with some
# providers, and never come from a cache of LangChain's.
PLAIN: Mapping[str, bool] = {"disable_streaming": True, "cache": False}


class Completions(Protocol):
    """A completions endpoint: continues a prompt."""

    async def __call__(self, prompt: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The response in OpenAI's form of a text completion; `body`: the rest of the request in the same form."""
        ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a LangChain model wants to be told what it cannot be told in one way everywhere.

    `limit_field` and `seed_field` are fields of the model (None = it has none). `other_limit`: the request's other name
    for the bound of a reply, for models that refuse the usual one. `logprobs`: whether it knows OpenAI's request for
    log-probabilities. `schema`: how a JSON schema is sent (None = not at all): `openai` and `ollama` are those two
    APIs' own fields; `extra_body` is OpenAI's field past the OpenAI package, which takes any reply with that field
    apart and throws away one that was cut off, its token counts included.
    """

    limit_field: str = "max_tokens"
    seed_field: str | None = "seed"
    other_limit: str | None = None
    logprobs: bool = True
    schema: Literal["openai", "extra_body", "ollama"] | None = "openai"


@dataclass(frozen=True, slots=True)
class Window:
    """How much a model reads and writes in one call. `tokens`: prompt and reply together.

    `count`: tokens of a conversation by the model's own tokenizer (None = it cannot be asked); it gives None where it
    fails. `source`: who says so, for messages.
    """

    tokens: int
    source: str
    count: Callable[[Sequence[Message]], Awaitable[int | None]] | None = None


def bounded(window: Window | None, tokens: int | None) -> Window | None:
    """The window as the settings bound it; None = not known."""
    if tokens is None:
        return window
    return Window(tokens, "llm.context_tokens", None if window is None else window.count)


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """A LangChain model, ready to be asked.

    `completions`: its endpoint for continuing a text (None = it has none). `endpoint` and `key_variable` (the
    environment variable the key came from) are for messages, `key` and `other_secrets` are known in order to keep them
    out. `default_concurrency`: attempts in flight where the settings do not say. `engine`: what runs the model in this
    process, with its version. `place`: where its package sends requests of its own accord, by a variable that no
    config shows. `dropped`: parameters that its package leaves out of its own accord. `window`: None = not known.
    """

    chat: BaseChatModel
    dialect: Dialect = Dialect()
    completions: Completions | None = field(default=None, repr=False)
    endpoint: str | None = None
    key_variable: str | None = None
    key: str | None = field(default=None, repr=False)
    other_secrets: tuple[str, ...] = field(default=(), repr=False)
    default_concurrency: int = 8
    engine: str | None = None
    place: Mapping[str, str] = field(default_factory=dict, repr=False)
    dropped: tuple[str, ...] = ()
    window: Window | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        return self.other_secrets if self.key is None else (self.key, *self.other_secrets)


MOST_KEPT = 32


class ConfiguredChats:
    """A LangChain model under changing parameters.

    The last few copies are kept: with each new one LangChain describes the model anew, which takes longer than all else
    that it does for a call.
    """

    def __init__(self, chat: BaseChatModel, dialect: Dialect) -> None:
        self._chat = chat
        self._dialect = dialect
        self._kept: OrderedDict[tuple[tuple[str, object], ...], BaseChatModel] = OrderedDict()

    def under(self, parameters: Parameters) -> BaseChatModel:
        """The model with the fields it has set to `parameters`; itself when they are."""
        wanted = {
            "temperature": parameters.temperature,
            "top_p": parameters.top_p,
            self._dialect.seed_field: parameters.seed,
            self._dialect.limit_field: None if parameters.other_limit_name else parameters.max_tokens,
        }
        fields = type(self._chat).model_fields
        changed = {
            name: value
            for name, value in wanted.items()
            if name is not None and name in fields and getattr(self._chat, name) != value
        }
        if not changed:
            return self._chat
        key = tuple(changed.items())
        if key not in self._kept:
            self._kept[key] = self._chat.model_copy(update=changed)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def laid_out(conversation: Sequence[Message], sent: Parameters) -> list[tuple[str, str]]:
    """The turns as (role, text), all of their words in order, in the forms that `sent` has.

    Without `system_role` such turns are the user's, in one with the user's own beside them; without `repeated_roles`
    neighbours of one role are one turn.
    """
    turns: list[tuple[str, str]] = []
    after_system = False
    for turn in conversation:
        is_system = turn.role == "system" and not sent.system_role
        role = "user" if is_system else turn.role
        joined = bool(turns) and turns[-1][0] == role and (is_system or after_system or not sent.repeated_roles)
        text = _paragraphs(turns.pop()[1], turn.content) if joined else turn.content
        turns.append((role, text))
        after_system = is_system
    return turns


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def beside_messages(dialect: Dialect, parameters: Parameters, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """What goes with one request to a chat model; `schema` is for the form of `parameters`."""
    sent: dict[str, Any] = {}
    past_the_package: dict[str, Any] = {}
    if parameters.stop:
        sent["stop"] = list(parameters.stop)
    if parameters.alternatives:
        sent |= {"logprobs": True, "top_logprobs": parameters.alternatives}
    if parameters.other_limit_name and dialect.other_limit is not None and parameters.max_tokens is not None:
        past_the_package[dialect.other_limit] = parameters.max_tokens
    if parameters.form is not None and schema is not None:
        native = parameters.form == JSON_SCHEMA
        if dialect.schema == "ollama":
            sent["format"] = dict(schema) if native else "json"
        elif dialect.schema is not None:
            holder = past_the_package if dialect.schema == "extra_body" else sent
            holder["response_format"] = _response_format(schema) if native else {"type": "json_object"}
    return sent | ({"extra_body": past_the_package} if past_the_package else {})


def completion_body(parameters: Parameters) -> dict[str, Any]:
    """What goes with the prompt of a completion, in OpenAI's form."""
    limit_name = "max_completion_tokens" if parameters.other_limit_name else "max_tokens"
    body = {
        "temperature": parameters.temperature,
        "top_p": parameters.top_p,
        "seed": parameters.seed,
        limit_name: parameters.max_tokens,
        "stop": list(parameters.stop) or None,
        "logprobs": parameters.alternatives or None,
    }
    if parameters.special_tokens:
        # Of vLLM: a checkpoint that reflects in special tokens must be heard out; other servers overlook the fields.
        body |= {"skip_special_tokens": False, "spaces_between_special_tokens": False}
    return {name: value for name, value in body.items() if value is not None}


def _response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    name = "".join(
        letter if letter.isascii() and letter.isalnum() else "_" for letter in schema.get("title") or "reply"
    )
    return {"type": "json_schema", "json_schema": {"name": name[:64], "strict": True, "schema": _strict(schema)}}


def _strict(node: Any) -> Any:
    """A schema as OpenAI's strict mode wants it: every field required, no other allowed, no defaults."""
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    strict = {key: _strict(value) for key, value in node.items() if key not in ("default", "properties", "$defs")}
    for key in ("properties", "$defs"):  # their keys are names of the user's, `default` may be one of them
        if key in node:
            strict[key] = {name: _strict(value) for name, value in node[key].items()}
    if "properties" in node:
        strict |= {"required": list(node["properties"]), "additionalProperties": False}
    return strict


# OpenAI and its kin; Anthropic; Ollama.
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason")
_WITHHELD = frozenset({"content_filter", "safety", "blocklist", "prohibited_content", "recitation", "refusal"})
# DeepSeek, LangChain and older vLLM; newer vLLM and OpenRouter; Ollama. Then Anthropic's and Mistral's, and OpenAI's.
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")
_THOUGHT_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


@dataclass(frozen=True, slots=True)
class TokenUsage:
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
    usage: TokenUsage
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


def read_usage(message: AIMessage) -> TokenUsage:
    """The counts of `message`.

    LangChain writes 0 for a count that the provider left out. No prompt has 0 tokens and no text takes 0
    tokens to write, so such a 0 is read back as unknown.
    """
    usage: Mapping[str, Any] = message.usage_metadata or {}
    output = known_count(usage.get("output_tokens"))
    return TokenUsage(
        input=known_count(usage.get("input_tokens")) or None,
        output=None if output == 0 and read_text(message) else output,
        cached=_detail(usage, "input_token_details", "cache_read"),
        reasoning=_detail(usage, "output_token_details", "reasoning"),
    )


def usage_of(body: Any) -> TokenUsage:
    """The counts that a server's answer in OpenAI's form holds, whatever else is wrong with it."""
    usage = body.get("usage") if isinstance(body, Mapping) else None
    if not isinstance(usage, Mapping):
        return TokenUsage()
    return TokenUsage(
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


@dataclass(frozen=True, slots=True)
class OpenAICompletions:
    """`POST /completions` through the OpenAI package, whose own retries are off."""

    client: AsyncOpenAI
    model: str

    async def __call__(self, prompt: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        # Not the package's typed call: it knows one form of log-probabilities, and servers have two.
        sent = {"model": self.model, "prompt": prompt, **body}
        return await self.client.post("/completions", body=sent, cast_to=dict[str, Any])
