"""Is there a server at this address? Asked once, before the first question."""

from __future__ import annotations

import httpx

from arena.errors import ConfigError, ModelSetupError

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


async def check_endpoint(base_url: str, key: str | None, key_variable: str | None) -> None:
    """Ask `base_url`/models. Any reply but a refused key will do: not every server lists its models.

    Raises:
        ModelSetupError: nothing answers, or the key is refused.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx.AsyncClient(timeout=CONNECT_TIMEOUT_SECONDS) as http:
            reply = await http.get(f"{base_url}/models", headers=headers)
    except httpx.RequestError as error:
        reason = str(error) or type(error).__name__
        raise ModelSetupError(
            f"no model server answers at {base_url!r} ({reason}): start it, or correct base_url"
        ) from None
    if reply.status_code in (401, 403):
        advice = f"check the key in ${key_variable}" if key_variable else "name the key's variable in api_key_variable"
        raise ModelSetupError(f"the model server at {base_url!r} refuses the key (HTTP {reply.status_code}): {advice}")
