"""What each role of the model calls took on one question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from arena.accounting import Account, Spend
from arena.types import RunRecord

_FINISHED = "stop"  # what most replies end with; it spares the look at how they were cut


@dataclass(frozen=True, slots=True)
class RoleUse:
    """The calls of one role. `spent`: what they used and cost, paid and replayed together.

    `models`: who was asked. `truncated`: replies that the model's own limit cut off.
    """

    role: str
    account: Account
    spent: Spend
    models: tuple[str, ...]
    truncated: int

    @property
    def retries(self) -> int:
        """Requests to the provider beyond one a call."""
        return self.spent.attempts - self.spent.calls

    @property
    def waiting_seconds(self) -> float:
        """Waiting for our own limits, and for the next attempt."""
        return self.account.queue_seconds + self.account.backoff_seconds


def uses_by_role(record: RunRecord, accounts: Mapping[str, Account]) -> tuple[RoleUse, ...]:
    """One entry per role, in the order of `accounts`, which are those of the record's calls."""
    models: dict[str, dict[str, None]] = {}
    for call in record.calls:
        models.setdefault(call.role, {})[call.model] = None
    cut = Counter(call.role for call in record.calls if call.finish_reason != _FINISHED and call.truncated)
    return tuple(
        RoleUse(role, account, whole_of(account), tuple(models.get(role, ())), cut[role])
        for role, account in accounts.items()
    )


def whole_of(account: Account) -> Spend:
    """`account.whole`, which takes its time where there is something to add up."""
    return account.whole if account.replayed.calls else account.paid
