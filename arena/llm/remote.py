"""Make ready a model at a provider or on an OpenAI-compatible server.

Nothing is sent before the first question but one request that asks whether there is a server at the address.
"""

from __future__ import annotations

import importlib.util
import json
import re
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import anyio
import httpx

from arena.config import LLMSettings, api_key
from arena.errors import ConfigError, ModelSetupError
from arena.llm.body import ACCEPTED_ENCODINGS, NO_SUCH_PATH, checked
from arena.llm.parameters import TEMPERATURE, TOP_P
from arena.llm.providers import COMPATIBLE, ModelName, Provider, known_providers, other_providers, parse_model
from arena.llm.wire import PLAIN, Dialect, ModelAccess, OpenAICompletions, Window
from arena.network import async_http_client, redacted
from arena.protocols import Message
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
    provider = known_providers().get(model.provider)
    _require(settings, other_providers()[model.provider] if provider is None else provider.package)
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

            return BaseChatOpenAI(model=model.name, use_responses_api=False, http_client=never_asked(), **values)
        from langchain.chat_models import init_chat_model

        chat: BaseChatModel = init_chat_model(model.name, model_provider=model.provider, **values)
        return chat
    except ValidationError as error:  # which would show the values it was given
        problem = "; ".join(item["msg"] for item in error.errors(include_url=False, include_input=False))
    except (ValueError, TypeError, ImportError, LookupError, RuntimeError, OSError, OpenAIError) as error:
        problem = str(error)
    problem = redacted(" ".join(problem.split()), (values.get("api_key", _NO_KEY),))
    raise ModelSetupError(f"model {settings.model!r} cannot be opened: {problem}")


@cache
def never_asked() -> httpx.Client:
    """In place of the synchronous client that the package would make for each address: all our calls are async."""

    def refuse(request: httpx.Request) -> httpx.Response:
        raise RuntimeError(f"{request.url} was asked by a synchronous call")

    return httpx.Client(transport=httpx.MockTransport(refuse))


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


CONNECT_TIMEOUT_SECONDS = 10.0
_ASIDE_SECONDS = 5.0  # for what is good to know and not needed
_LIST_BYTES = 262_144
_WINDOW_FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length")


def checked_url(base_url: str) -> str:
    """`base_url` without a trailing slash.

    Raises:
        ConfigError: it is no http(s) address.
    """
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"base_url {base_url!r} is no address: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(f"base_url {base_url!r} is no http(s) address: write http://HOST:PORT/v1")
    return base_url.rstrip("/")


def model_http_client(timeout_seconds: float, *, obeys_environment: bool = True) -> httpx.AsyncClient:
    """The client of a model server: every answer is looked at first (`arena.llm.body`), no redirect is followed.

    `obeys_environment` False is for a server of this process.
    """
    return async_http_client(
        timeout_seconds,
        obeys_environment=obeys_environment,
        follow_redirects=False,
        event_hooks={"response": [checked]},
        headers={"Accept-Encoding": ACCEPTED_ENCODINGS},
        # Attempts are bounded where they are made; a second bound below would only make them wait unseen.
        limits=httpx.Limits(max_connections=1000, max_keepalive_connections=100),
    )


async def check_endpoint(base_url: str, key: str | None, key_variable: str | None) -> str:
    """Ask `base_url`/models. Any reply but a refused key will do: not every server lists its models.

    Gives the beginning of what came, at most `_LIST_BYTES` of it.

    Raises:
        ModelSetupError: nothing answers, or the key is refused.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with (
            async_http_client(CONNECT_TIMEOUT_SECONDS, headers={"Accept-Encoding": "identity"}) as http,
            http.stream("GET", f"{base_url}/models", headers=headers) as reply,
        ):
            begin = await _begin(reply)
    except httpx.RequestError as error:
        reason = redacted(str(error) or type(error).__name__, (key,) if key else ())
        raise ModelSetupError(
            f"no model server answers at {base_url!r} ({reason}): start it, or correct base_url"
        ) from None
    if reply.is_success and NO_SUCH_PATH in begin.lower():
        raise ModelSetupError(
            f"the model server at {base_url!r} has no /models there, and says so with HTTP 200: correct base_url (most "
            "servers want it to end in /v1)"
        )
    if reply.status_code in (401, 403):
        advice = f"check the key in ${key_variable}" if key_variable else "name the key's variable in api_key_variable"
        raise ModelSetupError(f"the model server at {base_url!r} refuses the key (HTTP {reply.status_code}): {advice}")
    return begin


async def served_window(models: str, access: ModelAccess, name: str) -> Window | None:
    """The window of a model as its server states it: vLLM and others in the list of models, llama.cpp under /props.

    `models`: the reply of /models. None = the server does not say.
    """
    entry = _entry(_json(models), name)
    for field in _WINDOW_FIELDS:
        if tokens := known_count(entry.get(field)):
            return Window(tokens, f"{field} of its server")
    if entry.get("owned_by") != "llamacpp" or access.endpoint is None:
        return None
    root = access.endpoint.removesuffix("/v1")
    headers = {"Authorization": f"Bearer {access.key}"} if access.key else {}
    told = await asked_json("GET", f"{root}/props", headers)
    settings = told.get("default_generation_settings")
    tokens = known_count(settings.get("n_ctx")) if isinstance(settings, Mapping) else None
    return Window(tokens, "n_ctx of its server", llama_counter(root, headers)) if tokens else None


def llama_counter(
    root: str, headers: Mapping[str, str], *, obeys_environment: bool = True
) -> Callable[[Sequence[Message]], Awaitable[int | None]]:
    """Counts the tokens of a conversation by llama.cpp's own template and tokenizer; None where it does not answer."""

    async def count(messages: Sequence[Message]) -> int | None:
        turns = [{"role": turn.role, "content": turn.content} for turn in messages]
        laid_out = await asked_json(
            "POST", f"{root}/apply-template", headers, {"messages": turns}, obeys_environment=obeys_environment
        )
        prompt = laid_out.get("prompt")
        if not isinstance(prompt, str):
            return None
        body = {"content": prompt, "add_special": True, "parse_special": True}
        told = await asked_json("POST", f"{root}/tokenize", headers, body, obeys_environment=obeys_environment)
        tokens = told.get("tokens")
        return len(tokens) if isinstance(tokens, list) else None

    return count


async def asked_json(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: Mapping[str, Any] | None = None,
    *,
    obeys_environment: bool = True,
) -> Mapping[str, Any]:
    """An object that a server answers with, within a few seconds; empty where it does not."""
    client = async_http_client(_ASIDE_SECONDS, obeys_environment=obeys_environment, headers=dict(headers))
    with anyio.move_on_after(_ASIDE_SECONDS):
        async with client as http:
            try:
                reply = await http.request(method, url, json=body)
            except httpx.HTTPError:
                return {}
            told = _json(reply.text) if reply.is_success else {}
            return told if isinstance(told, Mapping) else {}
    return {}


def _entry(models: Any, name: str) -> Mapping[str, Any]:
    """What a list of models says of `name`, or of the only one it has; empty where it says nothing."""
    listed = models.get("data") if isinstance(models, Mapping) else None
    entries = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    named = [one for one in entries if one.get("id") == name]
    found: Mapping[str, Any] = next(iter(named or (entries if len(entries) == 1 else ())), {})
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


async def _begin(reply: httpx.Response) -> str:
    """The beginning of what came, within a few seconds: no list of models is needed whole."""
    parts: list[bytes] = []
    with anyio.move_on_after(_ASIDE_SECONDS):
        async for part in reply.aiter_raw(1024):
            parts.append(part)
            if sum(map(len, parts)) >= _LIST_BYTES:
                break
    return b"".join(parts).decode("utf-8", "replace")
