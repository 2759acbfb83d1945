"""The faults that the fake model plays at given rates, and which call meets which.

A fault is drawn from the seed, the prompt, the parameters and how often this very call was asked before, so that it is
the same at any concurrency and in any order, and a call that is asked again may pass.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Literal, get_args

import httpx
from pydantic import Field, model_validator

from arena.config import Settings

FaultName = Literal[
    "rate_limit",
    "rate_limit_retry_after",
    "server_error",
    "timeout",
    "reset",
    "truncated",
    "malformed_json",
    "empty",
    "no_usage",
    "refusal",
]
FAULTS: tuple[FaultName, ...] = get_args(FaultName)

REFUSAL = "Sorry, this is nothing I may help with."

# Where the fake would be, were it a server; nothing is sent there.
_REQUEST = httpx.Request("POST", "http://fake.invalid/v1/chat/completions")
_Rate = Field(default=0.0, ge=0.0, le=1.0)


class FaultRates(Settings):
    """Shares in [0, 1] of all calls, together at most 1. Each call meets one fault at most.

    `rate_limit`, `rate_limit_retry_after`: status 429, without and with Retry-After (of `retry_after_seconds`).
    `server_error`: status 500. `timeout`: a read timeout, at once. `reset`: the connection breaks. `truncated`: half
    of the words, as if the token bound cut the reply. `malformed_json`: a form lacks its end; where none is asked for,
    the response itself is no JSON. `empty`: a reply of no words. `no_usage`: a good reply without token counts.
    `refusal`: the model says that it will not.
    """

    rate_limit: float = _Rate
    rate_limit_retry_after: float = _Rate
    server_error: float = _Rate
    timeout: float = _Rate
    reset: float = _Rate
    truncated: float = _Rate
    malformed_json: float = _Rate
    empty: float = _Rate
    no_usage: float = _Rate
    refusal: float = _Rate
    retry_after_seconds: float = Field(default=1.0, ge=0.0)

    @model_validator(mode="after")
    def _leaves_no_share_below_zero(self) -> FaultRates:
        if sum(self.shares().values()) > 1.0 + 1e-9:
            raise ValueError("the rates add up to more than 1")
        return self

    def shares(self) -> dict[FaultName, float]:
        """Fault -> rate, in the order of `FAULTS`."""
        return {name: getattr(self, name) for name in FAULTS}


class FaultDraw:
    """Which call meets which fault."""

    def __init__(self, rates: FaultRates, seed: int) -> None:
        self._shares = {name: share for name, share in rates.shares().items() if share}
        self._seed = seed
        self._asked: Counter[str] = Counter()

    @property
    def any(self) -> bool:
        """Whether any call can meet a fault."""
        return bool(self._shares)

    def draw(self, call: str) -> FaultName | None:
        """The fault of this asking of `call`, which identifies its prompt and parameters; None = none."""
        self._asked[call] += 1
        point = _uniform(self._seed, call, self._asked[call])
        for name, share in self._shares.items():
            point -= share
            if point < 0.0:
                return name
        return None


def scripted_error(error: int | str, message: str, retry_after_seconds: float | None) -> httpx.HTTPError:
    """What a provider's package raises: for a status, for `timeout` or for `reset`."""
    if error == "timeout":
        return httpx.ReadTimeout(message, request=_REQUEST)
    if error == "reset":
        return httpx.ReadError(message, request=_REQUEST)
    headers = {} if retry_after_seconds is None else {"retry-after": f"{retry_after_seconds:g}"}
    response = httpx.Response(int(error), headers=headers, request=_REQUEST)
    return httpx.HTTPStatusError(message, request=_REQUEST, response=response)


def drawn_error(fault: FaultName | None, rates: FaultRates, *, form: bool) -> Exception | None:
    """What is raised for `fault`; None = there is a reply, good or bad. `form`: the reply was to be JSON."""
    match fault:
        case "rate_limit":
            return scripted_error(429, "too many requests", None)
        case "rate_limit_retry_after":
            return scripted_error(429, "too many requests", rates.retry_after_seconds)
        case "server_error":
            return scripted_error(500, "internal error", None)
        case "timeout" | "reset":
            return scripted_error(fault, "played by the script", None)
        case "malformed_json" if not form:
            return json.JSONDecodeError("the response breaks off", '{"choices": [', 13)
    return None


def costs_nothing(error: Exception) -> bool:
    """Whether the request was refused. Behind a gateway that did not wait, a reply may have been written."""
    return isinstance(error, httpx.HTTPStatusError) and error.response.status_code not in (504, 524)


def _uniform(seed: int, call: str, nth: int) -> float:
    """A number in [0, 1) that no other draw has a part in."""
    digest = hashlib.sha256(f"{seed}\0{call}\0{nth}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
