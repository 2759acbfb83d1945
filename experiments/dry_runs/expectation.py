"""What some calls are expected to take, from what a few like them took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from arena.accounting import Account, account_of, add_up
from arena.llm import is_fake
from arena.prices import PriceTable
from arena.types import CallAttempt, Cell, LLMCall

TOKENS_PER_WORD = 1.5
"""Tokens per run of characters between white space, prompts and passages together, a little on the high side.

Measured: 1.3 on paragraphs of MuSiQue (30,000 WordPieces), 1.55 on whole prompts over the fictional world, whose names
are in no dictionary (SmolLM2, its chat template counted).
"""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one cell, or a judge by one metric on the answers of one cell, is expected to take.

    `account` is that of `n_observed` questions, observed in `origin` (a run's id; None = a probe with the fake model).
    `full_usd`: what those would have cost had every reply been as long as it may be; of a probe only. `failures`: why
    questions of a probe failed; those that do stop short, and make the figures too low.
    """

    cell: Cell
    n_questions: int
    n_observed: int
    origin: str | None
    account: Account
    full_usd: float | None = None
    failures: tuple[str, ...] = ()

    @property
    def calls(self) -> float:
        """Calls on all questions; `input_tokens`, `output_tokens` and `usd` likewise, None = unknown."""
        return self._scaled(self.account.whole.calls) or 0.0

    @property
    def input_tokens(self) -> float | None:
        return self._scaled(self.account.whole.input_tokens.value)

    @property
    def output_tokens(self) -> float | None:
        return self._scaled(self.account.whole.output_tokens.value)

    @property
    def usd(self) -> float | None:
        return self._scaled(self.account.whole.usd.value)

    @property
    def usd_with_full_replies(self) -> float | None:
        """The cost with every reply at its limit; that of a past run is what it was."""
        return self.usd if self.origin else self._scaled(self.full_usd)

    def _scaled(self, observed: float | None) -> float | None:
        if observed is None:
            return None
        return observed / self.n_observed * self.n_questions if self.n_observed else 0.0


def from_probe(
    cell: Cell,
    n_questions: int,
    n_observed: int,
    calls: Sequence[LLMCall],
    prices: PriceTable,
    max_tokens: int,
    failures: tuple[str, ...] = (),
) -> Expectation:
    """From calls of the fake model on `n_observed` questions, had the cell's model been asked."""
    account = add_up(account_of([_as_asked(call, cell)], cell, prices) for call in calls)
    full = account_of([_as_asked(call, cell, written=max_tokens) for call in calls], cell, prices)
    return Expectation(cell, n_questions, n_observed, None, account, full.whole.usd.value, failures)


def total(values: Iterable[float | None]) -> float | None:
    """The sum; None when any part is unknown."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return sum(known) if len(known) == len(listed) else None


def _as_asked(call: LLMCall, cell: Cell, written: int | None = None) -> LLMCall:
    """A call of the fake as the cell's model would have it, without seconds; `written`: with a reply so long."""
    model = cell.llm or call.model
    # The tokens of the fake are words.
    factor = 1.0 if is_fake(model) else TOKENS_PER_WORD
    attempts = tuple(
        CallAttempt(
            _tokens(one.input_tokens, factor), _tokens(one.output_tokens, factor) if written is None else written
        )
        for one in call.attempts
    )
    return replace(call, model=model, attempts=attempts, replayed=True)


def _tokens(words: int | None, factor: float) -> int | None:
    return None if words is None else round(words * factor)
