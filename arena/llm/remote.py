"""A model at a provider, or on an OpenAI-compatible server, made ready to be asked. Nothing is sent yet."""

from __future__ import annotations

import importlib.util
import re
import warnings
from typing import TYPE_CHECKING, Any

from arena.config import LLMSettings, api_key
from arena.errors import ConfigError, ModelSetupError
from arena.llm.access import PLAIN, Dialect, ModelAccess, Window
from arena.llm.completions import OpenAICompletions
from arena.llm.parameters import TEMPERATURE, TOP_P
from arena.llm.providers import COMPATIBLE, OTHER_PROVIDERS, PROVIDERS, ModelName, Provider, parse_model
from arena.network import redacted
from arena.types import known_count

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# Servers without keys still get an Authorization header, because the OpenAI package insists on one.
_NO_KEY = "no-key"

_OF_A_PLACE = re.compile("base|url|endpoint|host|region|location|project|deployment|api_version")
_BUILT_ON_OPENAI = frozenset({COMPATIBLE, "deepseek", "together", "xai"})
_LIMIT_FIELDS = ("max_tokens", "max_output_tokens", "max_new_tokens", "max_completion_tokens")


def remote_access(settings: LLMSettings, http_client: Any = None) -> ModelAccess:
    """The model of `settings` at its provider or at `base_url`.

    `http_client`: for providers that take one (`takes_http_client`); the caller closes it.

    Raises:
        ConfigError: a `base_url` that the provider's package cannot be told.
        ModelSetupError: the provider's package or the key is missing, or the package refuses the settings.
    """
    model = parse_model(settings)
    provider = PROVIDERS.get(model.provider)
    _require(settings, OTHER_PROVIDERS[model.provider] if provider is None else provider.package)
    if provider is None:
        return _self_sufficient_access(settings, model)
    variable, key = _key(settings, keyed=provider.keyed)
    endpoint = settings.base_url or provider.endpoint
    values: dict[str, Any] = {"temperature": settings.temperature, provider.limit_field: settings.max_tokens}
    values |= {**provider.no_retries, **PLAIN}
    values |= {
        name: value
        for name, value in (
            (provider.seed_field, settings.seed),
            (provider.timeout_field, settings.timeout_seconds),
            ("top_p", settings.top_p),
            (provider.window_field, settings.context_tokens),
            ("base_url", endpoint),
            ("api_key", key),
            ("http_async_client", http_client),
        )
        if name is not None and value is not None
    }
    chat = _construct(settings, model, values)
    completes = model.provider == COMPATIBLE and settings.base_url is not None
    return ModelAccess(
        chat,
        openai_dialect(chat) or _dialect(provider),
        OpenAICompletions(chat.root_async_client, model.name) if completes else None,  # type: ignore[attr-defined]
        endpoint=endpoint,
        key_variable=variable,
        key=None if variable is None else key,
        other_secrets=_secrets(chat),
        place=_place(chat, endpoint),
        dropped=_left_out(chat, settings),
        window=_profiled(chat) if settings.base_url is None else None,
    )


def _profiled(chat: BaseChatModel) -> Window | None:
    """The window by LangChain's own profile of a model; None where it has none."""
    tokens = known_count((getattr(chat, "profile", None) or {}).get("max_input_tokens"))
    return Window(tokens, "its LangChain profile") if tokens else None


def takes_http_client(provider: str) -> bool:
    """Whether the provider's model can be given an HTTP client, because it builds on LangChain's OpenAI model."""
    return provider in _BUILT_ON_OPENAI


def openai_dialect(chat: BaseChatModel) -> Dialect | None:
    """The dialect of a model that builds on LangChain's OpenAI model; None = it does not."""
    from langchain_openai.chat_models.base import BaseChatOpenAI

    if not isinstance(chat, BaseChatOpenAI):
        return None
    # Advice to call the package in another way, where a schema is refused: that is dealt with.
    warnings.filterwarnings("ignore", "(This model does not|Invalid schema for) .*structured output", UserWarning)
    is_sent_renamed = type(chat).model_fields["max_tokens"].alias == "max_completion_tokens"
    return Dialect(other_limit="max_tokens" if is_sent_renamed else "max_completion_tokens", schema="extra_body")


def _dialect(provider: Provider) -> Dialect:
    return Dialect(provider.limit_field, provider.seed_field, None, provider.logprobs, provider.schema)


def _self_sufficient_access(settings: LLMSettings, model: ModelName) -> ModelAccess:
    """A model of a provider whose names for our settings are not known here: its fields tell."""
    variable, key = (None, None) if settings.api_key_variable is None else _key(settings, keyed=True)
    if settings.base_url is not None and key is None:
        key = _NO_KEY  # its own key never goes to another server unasked
    where = {"base_url": settings.base_url, "api_key": key}
    given: dict[str, Any] = {name: value for name, value in where.items() if value is not None}
    fields = type(_construct(settings, model, {**given, **PLAIN})).model_fields
    names = {name for field, info in fields.items() for name in (field, info.alias) if name}
    if settings.base_url is not None and "base_url" not in names:
        raise ConfigError(
            f"model {settings.model!r} takes no base_url: leave {settings.base_url!r} out, and tell its package the "
            "place by the environment variable it reads"
        )
    limit_field = next((name for name in _LIMIT_FIELDS if name in names), None)
    wanted = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "seed": settings.seed,
        "timeout": settings.timeout_seconds,
        "max_retries": 0,
        limit_field: settings.max_tokens,
    }
    values = {name: value for name, value in wanted.items() if name in names and value is not None}
    chat = _construct(settings, model, {**given, **PLAIN, **values})
    plain = Dialect(limit_field or "max_tokens", "seed", logprobs=False, schema=None)
    return ModelAccess(
        chat,
        openai_dialect(chat) or plain,
        endpoint=settings.base_url,
        key_variable=variable,
        key=None if variable is None else key,
        other_secrets=_secrets(chat),
        place=_place(chat, settings.base_url),
        dropped=_left_out(chat, settings),
    )


def _require(settings: LLMSettings, package: str) -> None:
    if importlib.util.find_spec(package.replace("-", "_")) is None:
        raise ModelSetupError(f"model {settings.model!r} needs a missing package: pip install {package}")


def _construct(settings: LLMSettings, model: ModelName, values: dict[str, Any]) -> BaseChatModel:
    from openai import OpenAIError
    from pydantic import ValidationError

    try:
        if model.provider == COMPATIBLE and settings.base_url is not None:
            # The base class speaks the plain protocol (`max_tokens`, chat completions) that other servers know.
            from langchain_openai.chat_models.base import BaseChatOpenAI

            return BaseChatOpenAI(model=model.name, use_responses_api=False, **values)
        from langchain.chat_models import init_chat_model

        chat: BaseChatModel = init_chat_model(model.name, model_provider=model.provider, **values)
        return chat
    except ValidationError as error:  # which would show the values it was given
        problem = "; ".join(item["msg"] for item in error.errors(include_url=False, include_input=False))
    except (ValueError, TypeError, ImportError, LookupError, RuntimeError, OSError, OpenAIError) as error:
        problem = str(error)
    problem = redacted(" ".join(problem.split()), (values.get("api_key", _NO_KEY),))
    raise ModelSetupError(f"model {settings.model!r} cannot be opened: {problem}")


def _secrets(chat: BaseChatModel) -> tuple[str, ...]:
    """Keys that a package found by itself."""
    from pydantic import SecretStr

    values = (value.get_secret_value() for value in vars(chat).values() if isinstance(value, SecretStr))
    return tuple(value for value in values if value not in ("", _NO_KEY))


def _place(chat: BaseChatModel, endpoint: str | None) -> dict[str, str]:
    """What a package knows of the place of a model beside `endpoint`, from wherever it has it."""
    named = {name: value for name, value in vars(chat).items() if isinstance(value, str) and _OF_A_PLACE.search(name)}
    return {name: value for name, value in named.items() if value and value.rstrip("/") != endpoint}


def _left_out(chat: BaseChatModel, settings: LLMSettings) -> tuple[str, ...]:
    """What a package takes off models that would refuse it, without a word, or has no field for."""
    asked = (name for name in (TEMPERATURE, TOP_P) if getattr(settings, name) is not None)
    return tuple(name for name in asked if getattr(chat, name, None) is None)


def _key(settings: LLMSettings, *, keyed: bool) -> tuple[str | None, str | None]:
    """The variable and the key to send. A provider's own key never goes to another server unasked."""
    if settings.api_key_variable is None and not keyed:
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
