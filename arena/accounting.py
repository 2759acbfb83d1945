"""What calls used and cost, added up: by cell and role, and from those by cell, by strategy, by role, in all.

Replayed calls are counted with what they would have used and cost, and apart. An unknown count makes a sum unknown; the
sum of what is known is kept beside it, as a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from arena.prices import Price, PriceTable
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
        return _add_up_spends((self, other))


_NOTHING = Spend()


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
        return self.paid + self.replayed

    def __add__(self, other: Account) -> Account:
        return add_up((self, other))


def account_of(calls: Iterable[LLMCall], cell: Cell, prices: PriceTable | None) -> Account:
    """The account of `calls`, made in `cell` (`prices` None: nothing has a known price)."""
    accounts = _AccountSum()
    for call in calls:
        accounts.enter(call, prices.price_of(cell, call) if prices else None)
    return accounts.account


def accounts_by_role(calls: Iterable[LLMCall], cell: Cell, prices: PriceTable | None) -> dict[str, Account]:
    """`account_of` the calls of each role, in the order in which the roles were first asked."""
    accounts: dict[str, _AccountSum] = {}
    for call in calls:
        if call.role not in accounts:
            accounts[call.role] = _AccountSum()
        accounts[call.role].enter(call, prices.price_of(cell, call) if prices else None)
    return {role: entries.account for role, entries in accounts.items()}


def add_up(accounts: Iterable[Account]) -> Account:
    """All of them in one; of nothing, an account of no calls."""
    every = tuple(accounts)
    return Account(
        paid=_add_up_spends([one.paid for one in every]),
        replayed=_add_up_spends([one.replayed for one in every]),
        repairs=sum(one.repairs for one in every),
        failed_calls=sum(one.failed_calls for one in every),
        unknown_calls=sum(one.unknown_calls for one in every),
        unpriced_calls=sum(one.unpriced_calls for one in every),
        queue_seconds=sum(one.queue_seconds for one in every),
        backoff_seconds=sum(one.backoff_seconds for one in every),
        service_seconds=sum(one.service_seconds for one in every),
    )


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


@dataclass(slots=True)
class _SpendSum:
    """A `Spend` in the making: runs have many calls, and their sums are not made of an object for each."""

    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    unknown_input: int = 0
    output_tokens: int = 0
    unknown_output: int = 0
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    usd: float = 0.0
    unknown_usd: int = 0

    def enter(self, call: LLMCall, price: Price | None) -> bool:
        """Add a call; whether all of its tokens are known."""
        usd, unknown_before = 0.0, self.unknown_input + self.unknown_output
        for attempt in call.attempts:
            if attempt.input_tokens is None:
                self.unknown_input += 1
            else:
                self.input_tokens += attempt.input_tokens
            if attempt.output_tokens is None:
                self.unknown_output += 1
            else:
                self.output_tokens += attempt.output_tokens
            if attempt.cached_input_tokens is not None:
                self.cached_input_tokens = (self.cached_input_tokens or 0) + attempt.cached_input_tokens
            if attempt.reasoning_tokens is not None:
                self.reasoning_tokens = (self.reasoning_tokens or 0) + attempt.reasoning_tokens
            cost = price.usd(attempt, replayed=call.replayed) if price else None
            if cost is None:
                self.unknown_usd += 1
            else:
                usd += cost
        self.calls += 1
        self.attempts += len(call.attempts)
        self.usd += usd
        return self.unknown_input + self.unknown_output == unknown_before

    @property
    def spend(self) -> Spend:
        if not self.calls:
            return _NOTHING
        return Spend(
            calls=self.calls,
            attempts=self.attempts,
            input_tokens=Total(self.input_tokens, self.unknown_input),
            output_tokens=Total(self.output_tokens, self.unknown_output),
            cached_input_tokens=self.cached_input_tokens,
            reasoning_tokens=self.reasoning_tokens,
            usd=Total(self.usd, self.unknown_usd),
        )


@dataclass(slots=True)
class _AccountSum:
    """An `Account` in the making."""

    paid: _SpendSum = field(default_factory=_SpendSum)
    replayed: _SpendSum = field(default_factory=_SpendSum)
    repairs: int = 0
    failed_calls: int = 0
    unknown_calls: int = 0
    unpriced_calls: int = 0
    queue_seconds: float = 0.0
    backoff_seconds: float = 0.0
    service_seconds: float = 0.0

    def enter(self, call: LLMCall, price: Price | None) -> None:
        known = (self.replayed if call.replayed else self.paid).enter(call, price)
        self.repairs += call.repair
        self.failed_calls += call.error is not None
        self.unknown_calls += not known
        self.unpriced_calls += price is None
        self.queue_seconds += call.queue_seconds
        self.backoff_seconds += call.backoff_seconds
        self.service_seconds += call.service_seconds

    @property
    def account(self) -> Account:
        return Account(
            self.paid.spend,
            self.replayed.spend,
            self.repairs,
            self.failed_calls,
            self.unknown_calls,
            self.unpriced_calls,
            self.queue_seconds,
            self.backoff_seconds,
            self.service_seconds,
        )


def _add_up_spends(spends: Sequence[Spend]) -> Spend:
    made = [spend for spend in spends if spend is not _NOTHING]
    if not made:
        return _NOTHING
    return Spend(
        calls=sum(one.calls for one in made),
        attempts=sum(one.attempts for one in made),
        input_tokens=_add_up_totals([one.input_tokens for one in made]),
        output_tokens=_add_up_totals([one.output_tokens for one in made]),
        cached_input_tokens=_add_said(one.cached_input_tokens for one in made),
        reasoning_tokens=_add_said(one.reasoning_tokens for one in made),
        usd=_add_up_totals([one.usd for one in made]),
    )


def _add_up_totals(totals: Sequence[Total]) -> Total:
    return Total(sum(one.known for one in totals), sum(one.n_unknown for one in totals))


def _add_said(counts: Iterable[int | None]) -> int | None:
    said = [count for count in counts if count is not None]
    return sum(said) if said else None
