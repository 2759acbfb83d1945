"""Which providers can be asked, and how each of them wants the same settings.

The providers are LangChain's; their packages are installed by whoever needs them. What is not said here (a
model that refuses a temperature, ...) is for the provider to say.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.config import LLMSettings, api_key
from arena.errors import ConfigError, ModelSetupError, UnknownNameError
from arena.llm.access import PLAIN, ModelAccess
from arena.llm.faults import hide

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LOCAL = "local"
FAKE = "fake"
COMPATIBLE = "openai"

# Servers without keys still get an Authorization header, because the OpenAI package insists on one.
_NO_KEY = "no-key"


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of LangChain's `init_chat_model` and the names it has for our settings (None = has none).

    `no_retries` turns the package's own retries off. `endpoint` is where it is without a `base_url`; it is passed on
    even so, because the package would else take another from variables that no config shows.
    """

    package: str
    keyed: bool = True
    limit_field: str = "max_tokens"
    seed_field: str | None = "seed"
    timeout_field: str | None = "timeout"
    no_retries: Mapping[str, int] = field(default_factory=lambda: {"max_retries": 0})
    endpoint: str | None = None


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider("langchain-anthropic", seed_field=None),
    "deepseek": Provider("langchain-deepseek"),
    "fireworks": Provider("langchain-fireworks", seed_field=None),
    # Google's package takes 0 for "the default", and 1 for one attempt.
    "google_genai": Provider("langchain-google-genai", limit_field="max_output_tokens", no_retries={"max_retries": 1}),
    "groq": Provider("langchain-groq", seed_field=None),
    "mistralai": Provider("langchain-mistralai", seed_field="random_seed", timeout_field=None),
    "ollama": Provider(
        "langchain-ollama",
        keyed=False,
        limit_field="num_predict",
        timeout_field=None,
        no_retries={},
        endpoint="http://127.0.0.1:11434",
    ),
    "openai": Provider("langchain-openai", endpoint="https://api.openai.com/v1"),
    "openrouter": Provider("langchain-openrouter", timeout_field=None),
    "together": Provider("langchain-together"),
    "xai": Provider("langchain-xai"),
}


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
    known = (LOCAL, FAKE, *PROVIDERS)
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


def model_identity(settings: LLMSettings) -> str:
    """`PROVIDER:NAME` for a cell. Of a file only its name is kept: where it lies changes no answer."""
    model = parse_model(settings)
    name = Path(model.name).name if model.provider in (LOCAL, FAKE) else model.name
    return f"{model.provider}:{name}"


def remote_access(settings: LLMSettings, http_client: Any = None) -> ModelAccess:
    """The model of `settings` at its provider or at `base_url`; nothing is sent yet.

    `http_client`: an asynchronous client of the OpenAI package, for `openai:` only; the caller closes it.

    Raises:
        ModelSetupError: the provider's package or the key is missing, or the package refuses the settings.
    """
    model = parse_model(settings)
    provider = PROVIDERS[model.provider]
    module = provider.package.replace("-", "_")
    if importlib.util.find_spec(module) is None:
        raise ModelSetupError(f"model {settings.model!r} needs a missing package: pip install {provider.package}")
    variable, key = _key(settings, model, provider)
    endpoint = settings.base_url or provider.endpoint
    values: dict[str, Any] = {"temperature": settings.temperature, provider.limit_field: settings.max_tokens}
    values |= {**provider.no_retries, **PLAIN}
    values |= {
        name: value
        for name, value in (
            (provider.seed_field, settings.seed),
            (provider.timeout_field, settings.timeout_seconds),
            ("base_url", endpoint),
            ("api_key", key),
            ("http_async_client", http_client),
        )
        if name is not None and value is not None
    }
    chat = _construct(settings, model, values)
    return ModelAccess(chat, provider.limit_field, endpoint, variable, None if variable is None else key)


def _construct(settings: LLMSettings, model: ModelName, values: dict[str, Any]) -> BaseChatModel:
    try:
        if model.provider == COMPATIBLE and settings.base_url is not None:
            # The base class speaks the plain protocol (`max_tokens`, chat completions) that other servers know.
            from langchain_openai.chat_models.base import BaseChatOpenAI

            return BaseChatOpenAI(model=model.name, use_responses_api=False, **values)
        from langchain.chat_models import init_chat_model

        chat: BaseChatModel = init_chat_model(model.name, model_provider=model.provider, **values)
        return chat
    except (ValueError, TypeError, ImportError) as error:
        problem = hide(" ".join(str(error).split()), (values.get("api_key", _NO_KEY),))
        raise ModelSetupError(f"model {settings.model!r} cannot be opened: {problem}") from None


def _key(settings: LLMSettings, model: ModelName, provider: Provider) -> tuple[str | None, str | None]:
    """The variable and the key to send. A provider's own key never goes to another server unasked."""
    if settings.api_key_variable is None and not provider.keyed:
        return None, None
    if settings.api_key_variable is None and settings.base_url is not None:
        return None, _NO_KEY
    variable, key = api_key(settings)
    if key is None:
        raise ModelSetupError(f"model {settings.model!r} needs a key: set the environment variable {variable}")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ModelSetupError(
            f"the key in ${variable} holds a space, a line break or a character beyond ASCII: set it anew"
        )
    return variable, key
