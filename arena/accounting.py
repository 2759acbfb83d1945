"""What calls used and cost, added up: by cell and role, and from those by cell, by strategy, by role, in all.

Replayed calls are counted with what they would have used and cost, and apart. An unknown count makes a sum unknown; the
sum of what is known is kept beside it, as a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from arena.prices import Price, PriceTable
from arena.types import Cell, LLMCall, RunRecord, grouped


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
            _added((self.cached_input_tokens, other.cached_input_tokens)),
            _added((self.reasoning_tokens, other.reasoning_tokens)),
            self.usd + other.usd,
        )


_NOTHING = Spend()
N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class Account:
    """An account of calls. `paid` were made; `replayed` came from the cache: what they would have used and cost.

    `repairs` asked once more for what could not be read, `failed_calls` brought no reply; both are among the calls.
    `unknown_calls` have an attempt with unknown tokens, `unpriced_calls` were made by a model without a known price.
    The seconds are those of the calls, added up; calls that overlap count each.
    """

    paid: Spend = _NOTHING
    replayed: Spend = _NOTHING
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
        return self.paid + self.replayed if self.replayed.calls else self.paid

    def __add__(self, other: Account) -> Account:
        return Account(
            self.paid if other.paid is _NOTHING else self.paid + other.paid,
            self.replayed if other.replayed is _NOTHING else self.replayed + other.replayed,
            self.repairs + other.repairs,
            self.failed_calls + other.failed_calls,
            self.unknown_calls + other.unknown_calls,
            self.unpriced_calls + other.unpriced_calls,
            self.queue_seconds + other.queue_seconds,
            self.backoff_seconds + other.backoff_seconds,
            self.service_seconds + other.service_seconds,
        )


def account_of(calls: Iterable[LLMCall], cell: Cell, prices: PriceTable | None) -> Account:
    """The account of `calls`, made in `cell` (`prices` None: nothing has a known price)."""
    priced = [(call, prices.price_of(cell, call) if prices else None) for call in calls]
    made = [call for call, _ in priced]
    return Account(
        paid=_spend_of([one for one in priced if not one[0].replayed]),
        replayed=_spend_of([one for one in priced if one[0].replayed]),
        repairs=sum(call.repair for call in made),
        failed_calls=sum(call.error is not None for call in made),
        unknown_calls=sum(call.input_tokens is None or call.output_tokens is None for call in made),
        unpriced_calls=sum(price is None for _, price in priced),
        queue_seconds=sum([call.queue_seconds for call in made], 0.0),
        backoff_seconds=sum([call.backoff_seconds for call in made], 0.0),
        service_seconds=sum([call.service_seconds for call in made], 0.0),
    )


def _spend_of(priced: Sequence[tuple[LLMCall, Price | None]]) -> Spend:
    if not priced:
        return _NOTHING
    attempts = [attempt for call, _ in priced for attempt in call.attempts]
    costs = [
        [price.usd(attempt, replayed=call.replayed) if price else None for attempt in call.attempts]
        for call, price in priced
    ]
    return Spend(
        calls=len(priced),
        attempts=len(attempts),
        input_tokens=_total([one.input_tokens for one in attempts]),
        output_tokens=_total([one.output_tokens for one in attempts]),
        cached_input_tokens=_added([one.cached_input_tokens for one in attempts]),
        reasoning_tokens=_added([one.reasoning_tokens for one in attempts]),
        usd=sum(map(_total, costs), Total(0.0)),
    )


def accounts_by_role(calls: Iterable[LLMCall], cell: Cell, prices: PriceTable | None) -> dict[str, Account]:
    """`account_of` the calls of each role, in the order in which the roles were first asked."""
    by_role = grouped((call.role, call) for call in calls)
    return {role: account_of(some, cell, prices) for role, some in by_role.items()}


def add_up(accounts: Iterable[Account]) -> Account:
    """All of them in one; of nothing, an account of no calls."""
    return sum(accounts, Account())


def _total(values: Sequence[float | None]) -> Total:
    return Total(_added(values) or 0, values.count(None))


def _added(values: Sequence[N | None]) -> N | None:
    """The sum of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None


@dataclass(slots=True)
class RunAccounts:
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


def account_run(records: Iterable[RunRecord], prices: PriceTable | None) -> RunAccounts:
    """The accounts of a run's records, read one at a time: memory grows with cells and roles, not with records."""
    accounts = RunAccounts()
    for record in records:
        key = record.cell.key
        accounts.cells.setdefault(key, record.cell)
        accounts.n_questions[key] = accounts.n_questions.get(key, 0) + 1
        for call in record.calls:
            place = (key, call.role)
            accounts.by_role[place] = accounts.by_role.get(place, Account()) + account_of((call,), record.cell, prices)
    return accounts
