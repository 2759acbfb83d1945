"""What calls used and cost, added up: by cell and role, and from those by cell, by strategy, by role, in all.

Replayed calls are counted with what they would have used and cost, and apart. An unknown count makes a sum unknown; the
sum of what is known is kept beside it, as a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import reduce

from arena.prices import PriceTable
from arena.types import Cell, LLMCall, RunRecord


@dataclass(frozen=True, slots=True)
class Total:
    """A sum over attempts: `known` of those whose value is known, and how many there are whose value is not."""

    known: float = 0
    n_unknown: int = 0

    @property
    def value(self) -> float | None:
        """The sum; None when any part is unknown."""
        return None if self.n_unknown else self.known

    def __add__(self, other: Total) -> Total:
        return Total(self.known + other.known, self.n_unknown + other.n_unknown)


@dataclass(frozen=True, slots=True)
class Spend:
    """What some calls used and cost. `cached_input_tokens` and `reasoning_tokens` are sums of what providers said.

    Input includes cached input, output includes reasoning; the two are None when no provider said anything.
    """

    calls: int = 0
    attempts: int = 0
    input_tokens: Total = Total()
    output_tokens: Total = Total()
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    usd: Total = Total()

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            self.calls + other.calls,
            self.attempts + other.attempts,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            _add_said(self.cached_input_tokens, other.cached_input_tokens),
            _add_said(self.reasoning_tokens, other.reasoning_tokens),
            self.usd + other.usd,
        )


@dataclass(frozen=True, slots=True)
class Account:
    """An account of calls. `paid` were made; `replayed` came from the cache: what they would have used and cost.

    `repairs` asked once more for what could not be read, `failed_calls` brought no reply; both are among the calls.
    `unknown_calls` have an attempt with unknown tokens, `unpriced_calls` were made by a model without a known price.
    The seconds are those of the calls, added up; calls that overlap count each.
    """

    paid: Spend = Spend()
    replayed: Spend = Spend()
    repairs: int = 0
    failed_calls: int = 0
    unknown_calls: int = 0
    unpriced_calls: int = 0
    queue_seconds: float = 0.0
    backoff_seconds: float = 0.0
    service_seconds: float = 0.0

    @property
    def whole(self) -> Spend:
        """Paid and replayed together: what the work takes, whoever paid for it and when."""
        return self.paid + self.replayed

    def __add__(self, other: Account) -> Account:
        return Account(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Account)))


def account_of(calls: Iterable[LLMCall], cell: Cell, prices: PriceTable | None) -> Account:
    """The account of `calls`, made in `cell` (`prices` None: nothing has a known price)."""
    return add_up(_account(call, cell, prices) for call in calls)


def add_up(accounts: Iterable[Account]) -> Account:
    """All of them in one; of nothing, an account of no calls."""
    return reduce(Account.__add__, accounts, Account())


@dataclass(slots=True)
class Books:
    """The accounts of a run. `by_role`: (cell key, role) -> account; `n_questions`: cell key -> its records."""

    cells: dict[str, Cell] = field(default_factory=dict)
    n_questions: dict[str, int] = field(default_factory=dict)
    by_role: dict[tuple[str, str], Account] = field(default_factory=dict)

    @property
    def whole(self) -> Account:
        """All calls of the run."""
        return add_up(self.by_role.values())

    def of_cell(self, key: str) -> Account:
        """All calls of one cell."""
        return add_up(account for (cell, _), account in self.by_role.items() if cell == key)

    def roles_of(self, key: str) -> dict[str, Account]:
        """Role -> account, of one cell; in the order in which they were first asked."""
        return {role: account for (cell, role), account in self.by_role.items() if cell == key}

    def of_strategy(self, name: str) -> Account:
        """All calls of one strategy, over its cells."""
        return add_up(account for (cell, _), account in self.by_role.items() if self.cells[cell].strategy == name)

    def of_role(self, name: str) -> Account:
        """All calls of one role, over the cells."""
        return add_up(account for (_, role), account in self.by_role.items() if role == name)


def keep_books(records: Iterable[RunRecord], prices: PriceTable | None) -> Books:
    """The accounts of a run's records, read one at a time: memory grows with cells and roles, not with records."""
    books = Books()
    for record in records:
        key = record.cell.key
        books.cells.setdefault(key, record.cell)
        books.n_questions[key] = books.n_questions.get(key, 0) + 1
        for call in record.calls:
            place = (key, call.role)
            books.by_role[place] = books.by_role.get(place, Account()) + _account(call, record.cell, prices)
    return books


def _account(call: LLMCall, cell: Cell, prices: PriceTable | None) -> Account:
    price = prices.price_of(cell, call) if prices else None
    spend = Spend(
        calls=1,
        attempts=len(call.attempts),
        input_tokens=_total(attempt.input_tokens for attempt in call.attempts),
        output_tokens=_total(attempt.output_tokens for attempt in call.attempts),
        cached_input_tokens=call.cached_input_tokens,
        reasoning_tokens=call.reasoning_tokens,
        usd=_total(price.usd(attempt, replayed=call.replayed) if price else None for attempt in call.attempts),
    )
    return Account(
        paid=Spend() if call.replayed else spend,
        replayed=spend if call.replayed else Spend(),
        repairs=int(call.repair),
        failed_calls=int(call.error is not None),
        unknown_calls=int(bool(spend.input_tokens.n_unknown or spend.output_tokens.n_unknown)),
        unpriced_calls=int(price is None),
        queue_seconds=call.queue_seconds,
        backoff_seconds=call.backoff_seconds,
        service_seconds=call.service_seconds,
    )


def _total(values: Iterable[float | None]) -> Total:
    listed = list(values)
    known = [value for value in listed if value is not None]
    return Total(sum(known), len(listed) - len(known))


def _add_said(one: int | None, other: int | None) -> int | None:
    if one is None:
        return other
    return one if other is None else one + other
