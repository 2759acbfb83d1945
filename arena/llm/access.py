"""How one language model is reached: the LangChain model and what surrounds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from arena.protocols import Message

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


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
