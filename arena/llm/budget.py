"""What a run may spend in all. Asked before every call, told of every one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from arena.errors import BudgetError
from arena.types import LLMCall

MOST_UNKNOWN = 20


class Budget:
    """Money and tokens spent against their bounds (None = unbounded).

    The bound is on what is known: attempts whose tokens the provider did not report are counted, not estimated, and
    `check` says how many there were, and gives up on a provider that leaves most of them unreported: a bound on what
    nobody counts is none. Calls in flight when a bound is reached may overrun it.

    Args:
        max_usd: US dollars.
        max_tokens: input and output together.
        price: cost of a call, all its attempts (None = unknown).
        spent_usd: spent before, by an earlier part of the run.
        spent_tokens: likewise.
    """

    def __init__(
        self,
        max_usd: float | None,
        max_tokens: int | None,
        price: Callable[[LLMCall], float | None],
        *,
        spent_usd: float = 0.0,
        spent_tokens: int = 0,
    ) -> None:
        self._max_usd = max_usd
        self._max_tokens = max_tokens
        self._price = price
        self._usd = spent_usd
        self._tokens = spent_tokens
        self._unknown = 0
        self._known = 0

    @property
    def spent_usd(self) -> float:
        """Known cost of all that was charged."""
        return self._usd

    @property
    def spent_tokens(self) -> int:
        """Known tokens of all that was charged."""
        return self._tokens

    def check(self) -> None:
        """Raise `BudgetError` once a bound is reached, or cannot be kept."""
        if self._max_usd is not None and self._usd >= self._max_usd:
            raise BudgetError(self._message(f"${self._usd:.4f}", f"max_usd {self._max_usd:g}", "--max-usd"))
        if self._max_tokens is not None and self._tokens >= self._max_tokens:
            raise BudgetError(
                self._message(f"{self._tokens:,} tokens", f"max_tokens {self._max_tokens:,}", "--max-run-tokens")
            )

        bounded = self._max_usd is not None or self._max_tokens is not None
        if bounded and self._unknown > max(MOST_UNKNOWN, self._known):
            raise BudgetError(
                f"the budget cannot be kept: the provider did not report what {self._unknown:,} of "
                f"{self._unknown + self._known:,} attempts used; bound a new run by sample.limit instead of "
                "budget.max_usd and budget.max_tokens (replies in the cache are not paid again)"
            )

    def charge(self, call: LLMCall) -> None:
        """Enter a call; a replayed one was paid for before and costs nothing."""
        if call.replayed:
            return
        for attempt in call.attempts:
            usd = self._price(replace(call, attempts=(attempt,)))
            tokens = (attempt.input_tokens, attempt.output_tokens)
            self._usd += usd or 0.0
            self._tokens += sum(count for count in tokens if count is not None)
            self._unknown += None in tokens
            self._known += None not in tokens

    def _message(self, spent: str, bound: str, option: str) -> str:
        unknown = f" (and whatever {self._unknown:,} attempts of unknown usage cost)" if self._unknown else ""
        return (
            f"the budget is used up: the run has spent {spent}{unknown} of budget.{bound}; what is done is kept, "
            f"raise the bound ({option}) and go on with --resume"
        )
