"""Which providers can be asked, and how each of them wants the same settings.

The providers are LangChain's; their packages are installed by whoever needs them. What is not said here (a
model that refuses a temperature, ...) is for the provider to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from arena.config import LLMSettings
from arena.errors import ConfigError, UnknownNameError
from arena.files import read_yaml_file

LOCAL = "local"
FAKE = "fake"
COMPATIBLE = "openai"


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of LangChain's `init_chat_model` and the names it has for our settings (None = has none).

    `no_retries` turns the package's own retries off. `endpoint` is where it is without a `base_url`; it is passed on
    even so, because the package would else take another from variables that no config shows. `window_field` sets how
    much the model reads (None = it cannot be set). `logprobs` and `schema`
    are for packages that do not build on LangChain's OpenAI model; see `Dialect`.
    """

    package: str
    keyed: bool = True
    limit_field: str = "max_tokens"
    seed_field: str | None = "seed"
    timeout_field: str | None = "timeout"
    window_field: str | None = None
    no_retries: Mapping[str, int] = field(default_factory=lambda: {"max_retries": 0})
    endpoint: str | None = None
    logprobs: bool = True
    schema: Literal["openai", "ollama"] | None = "openai"


@cache
def _table() -> Mapping[str, Any]:
    return dict(read_yaml_file(Path(__file__).with_suffix(".yaml"), "table of providers"))


@cache
def known_providers() -> Mapping[str, Provider]:
    """Name -> provider, of those whose names for our settings are known (`providers.yaml`)."""
    return {name: Provider(**fields) for name, fields in _table()["known"].items()}


@cache
def other_providers() -> Mapping[str, str]:
    """Name -> package, of the rest of what `init_chat_model` knows.

    They find their keys and places themselves, and are told of our settings what they have fields for.
    """
    return dict(_table()["others"])


@dataclass(frozen=True, slots=True)
class ModelName:
    """`PROVIDER:NAME`, taken apart. A name on an OpenAI-compatible server has the provider `openai`."""

    provider: str
    name: str


def parse_model(settings: LLMSettings) -> ModelName:
    """What `settings.model` asks for.

    Raises:
        ConfigError: no provider or no name, or a `base_url` where there is nothing to call.
        UnknownNameError: a provider that is not known.
    """
    provider, colon, name = settings.model.partition(":")
    known = (LOCAL, FAKE, *known_providers(), *other_providers())
    if settings.base_url is not None and not (colon and provider in known):
        provider, name = COMPATIBLE, settings.model
    elif not colon:
        raise ConfigError(
            f"model {settings.model!r} names no provider: write PROVIDER:NAME, with one of {', '.join(sorted(known))}"
        )
    if provider not in known:
        raise UnknownNameError("model provider", provider, known)
    if not name and provider != FAKE:
        raise ConfigError(f"model {settings.model!r} names no model: write {provider}:NAME")
    if settings.base_url is not None and provider in (LOCAL, FAKE):
        raise ConfigError(f"model {settings.model!r} runs in this process: leave base_url {settings.base_url!r} out")
    return ModelName(provider, name)


def is_fake(model: str) -> bool:
    """Whether `model`, as a config or a cell names it, is the fake."""
    return model.startswith(f"{FAKE}:")


def keeps_replies(settings: LLMSettings) -> bool:
    """Whether replies go into the cache and come from it: as the settings say, else for every model but `fake:`."""
    return parse_model(settings).provider != FAKE if settings.cache is None else settings.cache


def model_identity(settings: LLMSettings) -> str:
    """`PROVIDER:NAME` for a cell. Of a file only its name is kept: where it lies changes no answer."""
    model = parse_model(settings)
    name = Path(model.name).name if model.provider in (LOCAL, FAKE) else model.name
    return f"{model.provider}:{name}"
