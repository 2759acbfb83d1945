"""Is there a server at this address? Asked once, before the first question."""

from __future__ import annotations

import httpx

from arena.errors import ConfigError, ModelSetupError
from arena.llm.body import ACCEPTED_ENCODINGS, NO_SUCH_PATH, checked
from arena.network import async_http_client, redacted

CONNECT_TIMEOUT_SECONDS = 10.0


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


async def check_endpoint(base_url: str, key: str | None, key_variable: str | None) -> None:
    """Ask `base_url`/models. Any reply but a refused key will do: not every server lists its models.

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


async def _begin(reply: httpx.Response) -> str:
    """The first part of what came, as far as the network gave it in one piece: no list of models is needed whole."""
    async for part in reply.aiter_raw(1024):
        return part.decode("utf-8", "replace")
    return ""
