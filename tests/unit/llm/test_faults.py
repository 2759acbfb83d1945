from __future__ import annotations

import json

import httpx
import pytest

from arena.llm.faults import read_fault

REQUEST = httpx.Request("POST", "http://provider.invalid")


class StatusError(Exception):
    """What OpenAI, Anthropic and Ollama raise, as far as we look at it."""

    def __init__(self, status_code: int, code: str | None = None) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code
        self.code = code


class GoogleError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__("google")
        self.code = code


class BotocoreError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__("An error occurred (ThrottlingException)")
        self.response = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": {"HTTPStatusCode": status}}


class ClientConnectionError(Exception):
    """Of aiohttp, like the next."""


class ClientConnectorError(ClientConnectionError):
    pass


class HTTPClientError(Exception):
    """Of botocore."""


def status_error(status: int, headers: dict[str, str] | None = None) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(status, headers=headers))


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (StatusError(429), "passing"),
        (StatusError(529), "passing"),
        (StatusError(400), "lasting"),
        (StatusError(422), "lasting"),
        (StatusError(401), "setup"),
        (StatusError(429, code="insufficient_quota"), "setup"),
        (GoogleError(503), "passing"),
        (status_error(500), "passing"),
        (caused(RuntimeError("wrapped"), StatusError(503)), "passing"),
        (caused(RuntimeError("wrapped"), StatusError(404)), "setup"),
        (BotocoreError(429), "passing"),
        (BotocoreError(400), "lasting"),
        (caused(RuntimeError("wrapped"), ClientConnectionError()), "passing"),
        (HTTPClientError(), "passing"),
        (httpx.ConnectError("refused"), "passing"),
        (httpx.ReadTimeout("slow"), "passing"),
        (caused(RuntimeError("wrapped"), ConnectionResetError()), "passing"),
        (TimeoutError(), "passing"),
        (json.JSONDecodeError("cut short", "{", 1), "passing"),
        (ValueError("no choices"), "lasting"),
        (KeyError("choices"), "lasting"),
    ],
)
def test_faults_are_sorted(error: Exception, kind: str) -> None:
    assert read_fault(error).kind == kind


@pytest.mark.parametrize(
    ("error", "cost_nothing"),
    [
        (StatusError(400), True),
        (StatusError(429), True),
        (StatusError(500), True),
        (StatusError(504), False),
        (status_error(524), False),
        (httpx.ConnectError("refused"), True),
        (caused(RuntimeError("wrapped"), httpx.ConnectTimeout("slow")), True),
        (BotocoreError(429), True),
        (ClientConnectorError(), True),
        (caused(RuntimeError("wrapped"), ConnectionRefusedError()), True),
        (ClientConnectionError(), False),
        (httpx.ReadTimeout("slow"), False),
        (ConnectionResetError(), False),
        (TimeoutError(), False),
        (json.JSONDecodeError("cut short", "{", 1), False),
        (KeyError("choices"), False),
    ],
)
def test_only_what_was_refused_or_never_sent_cost_nothing(error: Exception, cost_nothing: bool) -> None:
    assert read_fault(error).cost_nothing is cost_nothing


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 99 Oct 2015 07:28:30 GMT"}, None),
    ],
)
def test_the_wait_asked_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert read_fault(status_error(429, headers)).retry_after_seconds == seconds


def test_a_message_names_the_fault_and_its_first_cause() -> None:
    fault = read_fault(caused(RuntimeError("Connection error."), ConnectionRefusedError("nobody\n  there")))
    assert fault.message == "RuntimeError: Connection error. <- ConnectionRefusedError: nobody there"


def test_a_message_is_bounded() -> None:
    assert len(read_fault(ValueError("x" * 10_000)).message) == 300


def test_no_half_of_a_secret_is_left_by_the_bound() -> None:
    secret = "s" * 40
    message = read_fault(ValueError("x" * 270 + secret), (secret,)).message
    assert "ss" not in message


def test_a_date_to_wait_for_is_seen_from_now_where_the_reply_has_none() -> None:
    seconds = read_fault(status_error(429, {"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"})).retry_after_seconds
    assert seconds is not None
    assert seconds > 1e9
