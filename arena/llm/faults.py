"""What an exception of a provider means for the call that met it.

Each provider's package has its own exceptions, and its own copy of the HTTP client's. They are told apart by
what they share: an HTTP status, or the name of a transport fault, on the exception or on one of its causes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from arena.llm.wire import TokenUsage
from arena.network import redacted

FaultKind = Literal["passing", "lasting", "setup", "unsupported"]

_MESSAGE_CHARS = 300
_PASSING_STATUSES = frozenset({408, 409, 425, 429})
_SETUP_STATUSES = frozenset({401, 402, 403, 404})
_TRANSPORT_NAMES = frozenset(
    {"TransportError", "APIConnectionError"}  # httpx, and the packages over it
    | {"ClientConnectionError", "ClientPayloadError"}  # aiohttp
    | {"ConnectionError", "Timeout", "ChunkedEncodingError", "HTTPClientError"}  # requests, botocore
)
# The server behind a gateway may have written the whole reply that the gateway did not wait for.
_GATEWAY_TIMEOUTS = frozenset({504, 524})
_UNSENT_NAMES = frozenset(
    {"ConnectError", "ConnectTimeout", "PoolTimeout", "ConnectionRefusedError"}
    | {"ClientConnectorError", "EndpointConnectionError", "ConnectTimeoutError"}
)
_QUOTA_CODE = "insufficient_quota"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why one attempt failed.

    `kind`: `passing` may be gone at the next attempt, `lasting` will not, `setup` will meet every call of
    the run, `unsupported` is a parameter that can be left out. `retry_after_seconds` is what the provider asked to
    wait (None = it did not say). `cost_nothing`: the provider refused the request or never got it; else it may have
    worked on it, and nobody knows what it bills. `usage`: what the provider counted for it all the same (None = it did
    not say).
    """

    kind: FaultKind
    message: str
    status: int | None = None
    retry_after_seconds: float | None = None
    cost_nothing: bool = False
    usage: TokenUsage | None = None


class UnusableReplyError(Exception):
    """A server answered, and with something that is no reply; the message is in our words and about the answer alone.

    `kind` is what that means for the call, unless `status_code` says it: the HTTP status that the server names in its
    answer, whatever it was sent with. `code` and `param` are an error's, `usage` is what the answer counts, `headers`
    are those it came with.
    """

    def __init__(
        self,
        message: str,
        kind: FaultKind = "passing",
        *,
        status_code: int | None = None,
        code: object = None,
        param: object = None,
        usage: TokenUsage | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status_code = status_code
        self.code = code
        self.param = param
        self.usage = usage
        self.headers = headers


def read_fault(error: Exception, secrets: tuple[str, ...] = ()) -> Fault:
    """The fault behind `error`, by its HTTP status, else by the kind of exception; `secrets` are kept out of it."""
    chain = causes(error)
    unusable = next((link for link in chain if isinstance(link, UnusableReplyError)), None)
    usage = unusable.usage if unusable else None
    status = next((found for link in chain if (found := _status(link)) is not None), None)
    message = _message((unusable,) if unusable else chain, status, secrets)
    if status is not None:
        headers = next((named for link in chain if (named := _headers(link))), {})
        cost_nothing = status not in _GATEWAY_TIMEOUTS
        return Fault(_kind_of_status(status, chain), message, status, _retry_after(headers), cost_nothing, usage)
    if unusable:
        return Fault(unusable.kind, message, usage=usage)
    passing = any(_is_transport_fault(link) for link in chain)
    unsent = any(base.__name__ in _UNSENT_NAMES for link in chain for base in type(link).__mro__)
    return Fault("passing" if passing else "lasting", message, cost_nothing=unsent)


def causes(error: BaseException) -> tuple[BaseException, ...]:
    """`error` and what led to it, the first cause last."""
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in links:
        links.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return tuple(links)


def _status(error: BaseException) -> int | None:
    holders = (error, getattr(error, "response", None))
    values = [getattr(holder, name, None) for holder in holders for name in ("status_code", "code")]
    if isinstance(holders[1], Mapping):  # botocore's
        values.append(dict(holders[1].get("ResponseMetadata") or {}).get("HTTPStatusCode"))
    return next((value for value in values if isinstance(value, int) and 400 <= value <= 599), None)


def _headers(error: BaseException) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", error), "headers", None)
    return {str(name).lower(): str(value) for name, value in headers.items()} if headers else {}


def _kind_of_status(status: int, chain: tuple[BaseException, ...]) -> FaultKind:
    if status in _SETUP_STATUSES or any(getattr(link, "code", None) == _QUOTA_CODE for link in chain):
        return "setup"
    return "passing" if status >= 500 or status in _PASSING_STATUSES else "lasting"


def _is_transport_fault(error: BaseException) -> bool:
    # A body cut short or garbled on the way is no JSON: the same request may well bring a whole one.
    if isinstance(error, ConnectionError | TimeoutError | json.JSONDecodeError):
        return True
    return any(base.__name__ in _TRANSPORT_NAMES for base in type(error).__mro__)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds asked for by `retry-after-ms` or `retry-after` (a number, or a date).

    A date is seen from the reply's own, or from ours where it has none.
    """
    for name, unit_seconds in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        with suppress(KeyError, ValueError):
            seconds = float(headers[name]) * unit_seconds
            return max(0.0, seconds) if math.isfinite(seconds) else None
    wanted, sent = (_date(headers.get(name)) for name in ("retry-after", "date"))
    return None if wanted is None else max(0.0, (wanted - (sent or datetime.now(UTC))).total_seconds())


def _date(text: str | None) -> datetime | None:
    """A date of an HTTP header; without a zone it is UTC, as all of them should be."""
    with suppress(ValueError, TypeError, OverflowError):
        date = parsedate_to_datetime(text or "")
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    return None


def _message(chain: tuple[BaseException, ...], status: int | None, secrets: tuple[str, ...]) -> str:
    """The exception and, where it adds something, its first cause, on one line of bounded length."""
    described = [_describe(link) for link in dict.fromkeys((chain[0], chain[-1]))]
    text = " <- ".join(dict.fromkeys(described))
    text = redacted(text, secrets)  # before the cut, which could leave half a secret
    if status is not None:
        text = f"HTTP {status}: {text}"
    return text if len(text) <= _MESSAGE_CHARS else text[: _MESSAGE_CHARS - 3] + "..."


def _describe(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, UnusableReplyError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
