"""What a model server sends back, looked at before any package sees it: bounded, in the form asked for, counts checked.

The packages take whatever comes: they unpack without bound, raise their own words over a missing field, add up counts
that are no numbers, and follow a redirect with the prompt. So the HTTP client of a model server has a hook, `checked`,
that reads each answer first. A quirk of a server is one row or one branch here, and one line in its test.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import httpx

from arena.llm.faults import UnusableReplyError
from arena.llm.wire import TokenUsage, thought_alone, usage_of
from arena.types import MOST_COUNTED

MOST_BYTES = 16 * 2**20
"""Of an answer, unpacked. The longest replies with twenty log-probabilities a token stay far below it."""

ACCEPTED_ENCODINGS = "gzip, deflate"

_STATUSES_OF_CODES: Mapping[str, int] = {
    "context_length_exceeded": 400,
    "insufficient_quota": 429,
    "invalid_api_key": 401,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "overloaded_error": 503,
    "rate_limit_exceeded": 429,
    "server_error": 500,
}
"""What an error means that came with HTTP 200 and has a word where others have a number."""

# LM Studio's answer to a path that it does not have, in its log "returning 200 anyway": base_url lacks its /v1.
NO_SUCH_PATH = "unexpected endpoint or method"


async def checked(response: httpx.Response) -> None:
    """The hook: read the whole answer, and put in its place what the packages can take.

    Raises:
        UnusableReplyError: it is too long, sends on to another address, or came with HTTP 200 and is no reply.
    """
    if 300 <= response.status_code < 400:
        raise UnusableReplyError(_sent_on(response), "setup")
    body = await _whole(response)
    if response.is_success and response.request.method == "POST":
        is_chat = response.request.url.path.endswith("/chat/completions")
        body = json.dumps(_reply(_decoded(body), response.headers, is_chat=is_chat)).encode("ascii")
    for name in ("content-encoding", "content-length", "transfer-encoding"):
        response.headers.pop(name, None)
    response.stream = httpx.ByteStream(body)


def _sent_on(response: httpx.Response) -> str:
    target = response.headers.get("location")
    try:
        place = None if target is None else response.request.url.join(target)
    except httpx.InvalidURL:
        place = None
    if place is None or not place.host:
        return f"the server answers with a redirect to nowhere (HTTP {response.status_code})"
    shown = place.copy_with(userinfo=b"", query=None, fragment=None)
    return (
        f"the server sends every request on to '{shown}' (HTTP {response.status_code}), and prompts are not sent where "
        "no config says: set base_url to the new address (without /chat/completions) if it is right"
    )


async def _whole(response: httpx.Response) -> bytes:
    """The answer's bytes, unpacked. The packages would unpack first and count never."""
    parts: list[bytes] = []
    size = 0
    assert isinstance(response.stream, httpx.AsyncByteStream)
    try:
        async for part in response.stream:
            parts.append(part)
            size += len(part)
            if size > MOST_BYTES:
                raise _too_long()
    finally:
        await response.stream.aclose()
    packed = b"".join(parts)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity") or not packed:
        return packed
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise UnusableReplyError(f"the reply is packed as {encoding[:20]!r}, which was not asked for", "lasting")
    return _unpacked(packed)


def _unpacked(packed: bytes) -> bytes:
    for form in (zlib.MAX_WBITS | 32, -zlib.MAX_WBITS):  # gzip or zlib by its head; else deflate without a head
        decoder = zlib.decompressobj(form)
        try:
            body = decoder.decompress(packed, MOST_BYTES + 1)
        except zlib.error:
            continue
        if len(body) > MOST_BYTES:
            raise _too_long()
        if decoder.eof:
            return body
    raise UnusableReplyError("the packed reply was cut short or garbled on the way")


def _too_long() -> UnusableReplyError:
    return UnusableReplyError(
        f"the reply is longer than {MOST_BYTES // 2**20} MiB, which no reply of a model is: see what answers there",
        "lasting",
    )


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body, parse_int=_integer)
    except UnicodeDecodeError:
        raise UnusableReplyError("bytes that are no UTF-8 text came instead of a reply") from None
    except (ValueError, RecursionError):
        begin = body.lstrip()[:8].lower()
        what = "a text that is no JSON, or was cut short,"
        if not begin:
            what = "nothing"
        elif begin.startswith(b"<"):
            what = "a web page"
        elif begin.startswith((b"data:", b"event:")):
            what = "a stream of events"
        raise UnusableReplyError(f"{what} came instead of a reply") from None


def _integer(digits: str) -> int:
    """Python refuses to read, or to write, integers of thousands of digits; as a count none of them says anything."""
    return int(digits) if len(digits) < 20 else MOST_COUNTED + 1


def _reply(body: Any, headers: Mapping[str, str], *, is_chat: bool) -> dict[str, Any]:
    """The answer with one choice, in the form of OpenAI's API, and only counts that are counts."""
    if not isinstance(body, Mapping):
        raise UnusableReplyError("JSON that is no object came instead of a reply")
    usage = usage_of(body)
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    holders = [one for one in (body, choice) if isinstance(one, Mapping)]
    for holder in holders:
        if holder.get("error") or holder.get("object") == "error":
            raise _told(holder.get("error") or holder, usage, headers)
    if not isinstance(choice, Mapping):
        raise _unusable("the reply has no choice", usage)
    finish_reason = _text_or_none(choice.get("finish_reason"))
    kept: dict[str, Any] = {"index": 0, "finish_reason": finish_reason}
    kept |= {name: choice[name] for name in ("logprobs",) if name in choice}
    said = _message(choice.get("message"), finish_reason, usage) if is_chat else _text(choice, usage)
    kept["message" if is_chat else "text"] = said
    return {
        "id": "",
        "object": "chat.completion" if is_chat else "text_completion",
        "created": 0,
        "model": str(body.get("model") or ""),
        "choices": [kept],
        "usage": _counts(usage),
    }


def _told(error: Any, usage: TokenUsage, headers: Mapping[str, str]) -> UnusableReplyError:
    """The error in an answer that came as a success."""
    told = error if isinstance(error, Mapping) else {"message": error}
    text = str(told.get("message") or told.get("detail") or told.get("type") or "no reason given")
    code = told.get("code") if told.get("code") is not None else told.get("type")
    status = 404 if NO_SUCH_PATH in text.lower() else _status(code)
    return UnusableReplyError(
        f"{text} (an error in place of a reply, sent as HTTP 200)",
        status_code=status,
        code=code,
        param=told.get("param"),
        usage=None if usage == TokenUsage() else usage,
        headers=headers,
    )


def _status(code: object) -> int | None:
    status = _STATUSES_OF_CODES.get(code) if isinstance(code, str) else code
    if isinstance(code, str) and code.isdecimal() and len(code) == 3:
        status = int(code)
    known = isinstance(status, int) and not isinstance(status, bool) and 400 <= status <= 599
    return status if known and isinstance(status, int) else None


def _message(message: Any, finish_reason: str | None, usage: TokenUsage) -> dict[str, Any]:
    """The turn of the assistant, whoever it names as its speaker.

    LangChain's package for OpenAI drops reasoning that stands beside the content; that there was some is kept.
    """
    if not isinstance(message, Mapping):
        raise _unusable("the reply's choice has no message", usage)
    # Tools are never offered: what a model makes up of their calls, or of sounds, is nothing to take apart.
    left_out = ("role", "content", "refusal", "tool_calls", "function_call", "audio", "id", "name")
    kept = {str(name): value for name, value in message.items() if name not in left_out}
    refusal = _text_or_none(message.get("refusal"))
    words = _words(message.get("content"), usage)
    if not words.strip() and not refusal:
        words = thought_alone(message, message.get("content"), finish_reason) or words
    return kept | {"role": "assistant", "content": words, "refusal": refusal}


def _words(content: Any, usage: TokenUsage) -> str:
    """The text of a content: a string, or parts of which those with a text are taken. None is none."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    if parts and not any(isinstance(part, str) or (isinstance(part, Mapping) and _names_text(part)) for part in parts):
        raise _unusable(f"the reply's content is a {type(content).__name__} without a text", usage)
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str))


def _names_text(part: Mapping[str, Any]) -> bool:
    """Whether a part of a content holds a text, or says what else it is (a thought, for one)."""
    return isinstance(part.get("text"), str) or isinstance(part.get("type"), str)


def _text(choice: Mapping[str, Any], usage: TokenUsage) -> str:
    text = choice.get("text")
    if text is None or isinstance(text, str):
        return text or ""
    raise _unusable(f"the continuation is a {type(text).__name__} and no text", usage)


def _text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _counts(usage: TokenUsage) -> dict[str, Any] | None:
    """`usage` in OpenAI's form; None where nothing is known."""
    if usage == TokenUsage():
        return None
    counts = {"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.total}
    known: dict[str, Any] = {name: count for name, count in counts.items() if count is not None}
    if usage.cached is not None:
        known["prompt_tokens_details"] = {"cached_tokens": usage.cached}
    if usage.reasoning is not None:
        known["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}
    return known


def _unusable(problem: str, usage: TokenUsage) -> UnusableReplyError:
    return UnusableReplyError(problem, usage=None if usage == TokenUsage() else usage)
