"""Is there a server at this address? Asked once, before the first question."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio
import httpx

from arena.errors import ConfigError, ModelSetupError
from arena.llm.access import ModelAccess, Window
from arena.llm.body import ACCEPTED_ENCODINGS, NO_SUCH_PATH, checked
from arena.network import async_http_client, redacted
from arena.protocols import Message
from arena.types import known_count

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
