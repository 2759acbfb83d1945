"""How much may be asked in a minute, where the provider sets a limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio

from arena.protocols import Message, ModelRequest

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

_CHARS_PER_TOKEN = 4
_TOKENS_PER_TURN = 4
_TOKENS_OF_TEMPLATE = 8  # of a turn's marks in a chat template
_MINUTE_SECONDS = 60.0


class RateLimits:
    """Requests and tokens per minute (None = unlimited). First come, first served.

    Requests are evenly spaced. Tokens flow from a bucket that holds one minute's, as the providers' own do: a request
    takes an estimate out, and the difference to what it used is settled with the next one.
    """

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: int | None) -> None:
        self._turn = anyio.Lock(fast_acquire=True)  # the library would let the small ones pass the large ones for ever
        self._requests: AsyncLimiter | None = None
        self._tokens: AsyncLimiter | None = None
        self._owed = 0.0
        if requests_per_minute is None and tokens_per_minute is None:
            return
        from aiolimiter import AsyncLimiter

        if requests_per_minute is not None:
            self._requests = AsyncLimiter(1, _MINUTE_SECONDS / requests_per_minute)
        if tokens_per_minute is not None:
            self._tokens = AsyncLimiter(tokens_per_minute, _MINUTE_SECONDS)

    async def reserve(self, tokens: int) -> None:
        """Wait until a request of about `tokens` may be sent."""
        if self._requests is None and self._tokens is None:
            return
        async with self._turn:
            if self._tokens is not None:
                self._owed += tokens
                # Of more than a minute holds, the rest is left for the requests after it to wait for.
                taken = min(max(self._owed, 0.0), self._tokens.max_rate)
                self._owed -= taken
                await self._tokens.acquire(taken)
            if self._requests is not None:
                await self._requests.acquire()

    def settle(self, reserved: int, used: int | None) -> None:
        """Set `used` against what was reserved; None = unknown, the estimate stands."""
        if self._tokens is not None and used is not None:
            self._owed += used - reserved


def prompt_fits(messages: Sequence[Message], tokens: int) -> bool | None:
    """Whether a conversation surely has at most `tokens`; None = it may have more.

    No common tokenizer makes more tokens than half the bytes of a text of natural language.
    """
    sure = sum(_bytes(turn) // 2 + _TOKENS_OF_TEMPLATE for turn in messages)
    return True if sure <= tokens else None


def cautious_tokens(messages: Sequence[Message]) -> int:
    """Tokens of a conversation where no tokenizer can be asked: three bytes a token, which is more than most make."""
    return sum(-(-_bytes(turn) // 3) + _TOKENS_OF_TEMPLATE for turn in messages)


def _bytes(turn: Message) -> int:
    return len(turn.content.encode("utf-8", "replace"))


def estimated_tokens(request: ModelRequest, max_tokens: int | None) -> int:
    """Tokens that a request may use: its prompt, and the whole room of its reply."""
    return estimated_prompt_tokens(request) + (max_tokens or 0)


def estimated_prompt_tokens(request: ModelRequest) -> int:
    """Tokens of a prompt, at four characters a token."""
    turns = [request.prompt] if isinstance(request.prompt, str) else [turn.content for turn in request.prompt]
    return sum(len(turn) // _CHARS_PER_TOKEN + _TOKENS_PER_TURN for turn in turns)
