"""What a run may spend in all. Asked before every call, told of every attempt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from arena.errors import BudgetError
from arena.types import PaidAttempt

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

    An attempt whose tokens the provider did not report takes an estimate out of the budget (its prompt at four
    characters a token, and all that its reply might be), which is kept apart from what is known. Calls in flight when
    a bound is reached may overrun it.

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
            f"raise the bound ({option}) and go on with --resume"
        )
