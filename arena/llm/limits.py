"""Limits on what is asked: of a minute where the provider sets one, of a run (`Budget`), of a question (`Allowance`).

A budget is asked before every call and told of every attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from arena.errors import BudgetError
from arena.protocols import Message
from arena.types import PaidAttempt

if TYPE_CHECKING:
    from aiolimiter import AsyncLimiter

_BYTES_PER_TOKEN = 3
_TOKENS_OF_TEMPLATE = 8  # of a turn's marks in a chat template
SURELY = 1.5
"""No common tokenizer makes more than so many times `estimated_tokens`: two bytes of natural language a token."""

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


def estimated_tokens(prompt: str | Sequence[Message]) -> int:
    """Tokens of a prompt where no tokenizer is asked: three bytes of UTF-8 a token, and the marks around each turn.

    That is more than tokenizers make of most texts, in whatever script: one a character in Chinese, two for three
    letters in Cyrillic, one for three letters in Latin.
    """
    turns = [prompt] if isinstance(prompt, str) else [turn.content for turn in prompt]
    return sum(-(-len(turn.encode("utf-8", "replace")) // _BYTES_PER_TOKEN) + _TOKENS_OF_TEMPLATE for turn in turns)


Price = Callable[[PaidAttempt], float | None]
"""What an attempt cost, in US dollars; None = unknown."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What so many attempts took: dollars, and tokens read and written, as far as they are known.

    `unknown` attempts have a count that the provider did not report; `reserved_usd` and `reserved_tokens` are
    estimates of what these took, beside what is known.
    """

    usd: float = 0.0
    tokens: int = 0
    attempts: int = 0
    unknown: int = 0
    reserved_usd: float = 0.0
    reserved_tokens: int = 0

    def and_one(self, paid: PaidAttempt, price: Price) -> Spent:
        """This, and one attempt more."""
        counts = (paid.attempt.input_tokens, paid.attempt.output_tokens)
        usd, is_unknown = price(paid), None in counts
        estimated = price(replace(paid, attempt=paid.expected)) if is_unknown and usd is None else None
        return Spent(
            self.usd + (usd or 0.0),
            self.tokens + sum(count for count in counts if count is not None),
            self.attempts + 1,
            self.unknown + is_unknown,
            self.reserved_usd + (estimated or 0.0),
            self.reserved_tokens + paid.reserved_input_tokens + paid.reserved_output_tokens,
        )


class Budget:
    """Money and tokens spent against their bounds (None = unbounded).

    An attempt whose tokens the provider did not report takes an estimate out of the budget (`estimated_tokens` of its
    prompt, and all that its reply might be), which is kept apart from what is known. Calls in flight when a bound is
    reached may overrun it.

    Args:
        max_usd: US dollars.
        max_tokens: input and output together.
        price: cost of an attempt.
        before: all that the run had spent before it kept a ledger of payments, which is counted here.
    """

    def __init__(
        self,
        max_usd: float | None = None,
        max_tokens: int | None = None,
        price: Price = lambda paid: None,
        *,
        before: PaidAttempt | None = None,
    ) -> None:
        self._max_usd = max_usd
        self._max_tokens = max_tokens
        self._price = price
        self._spent = Spent()
        self._write: Callable[[PaidAttempt], None] | None = None
        self.before = before
        if before is not None:
            self.count(before)

    @property
    def spent(self) -> Spent:
        """All that was paid and counted."""
        return self._spent

    @contextmanager
    def written_ahead(self, write: Callable[[PaidAttempt], None]) -> Iterator[None]:
        """While this is open, every attempt that is paid goes through `write` before it is counted."""
        before, self._write = self._write, write
        try:
            yield
        finally:
            self._write = before

    def pay(self, paid: PaidAttempt) -> None:
        """Write an attempt down, and count it; one that cannot be written is counted too, and the error raised."""
        try:
            if self._write is not None:
                self._write(paid)
        finally:
            self.count(paid)

    def count(self, paid: PaidAttempt) -> None:
        """Count an attempt that is written down already."""
        self._spent = self._spent.and_one(paid, self._price)

    def check(self) -> None:
        """Raise `BudgetError` once a bound is reached by what is known and what is estimated."""
        spent = self._spent
        if self._max_usd is not None and spent.usd + spent.reserved_usd >= self._max_usd:
            estimated = f"${spent.reserved_usd:.4f}"
            raise BudgetError(self._message(f"${spent.usd:.4f}", estimated, f"max_usd {self._max_usd:g}", "--max-usd"))
        if self._max_tokens is not None and spent.tokens + spent.reserved_tokens >= self._max_tokens:
            bound, estimated = f"max_tokens {self._max_tokens:,}", f"{spent.reserved_tokens:,}"
            raise BudgetError(self._message(f"{spent.tokens:,} tokens", estimated, bound, "--max-run-tokens"))

    def _message(self, spent: str, estimated: str, bound: str, option: str) -> str:
        unknown = self._spent.unknown
        more = f", and by estimate {estimated} more for {unknown:,} attempts of unknown usage," if unknown else ""
        return (
            f"the budget is used up: the run has spent {spent}{more} of budget.{bound}; what is done is kept, "
            f"raise the bound, as in: arena run --resume {option} N"
        )


FINAL_ROLE = "generate"
"""The role of the call that writes the final answer."""

FINAL_CALLS = 3
"""Calls under `FINAL_ROLE` that are granted once a bound is reached, so that a question ends with an answer."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Bounds on one question: calls asked (repairs count), tokens read and written; None = no bound.

    Tokens are those that providers said; where one says nothing, only `calls` bounds a question. They are known when
    a call has ended, so that calls in flight at the same time may go past `tokens` together.
    """

    calls: int | None = None
    tokens: int | None = None

    def spent(self, calls: int, tokens: int) -> str | None:
        """Which bound is reached, and how to raise it; None = neither is."""
        for bound, used, what in ((self.calls, calls, "calls"), (self.tokens, tokens, "tokens")):
            if bound is not None and used >= bound:
                return f"the question has used {used} of the {bound} {what} it may: raise allowance.{what} for more"
        return None


UNBOUNDED = Allowance()
