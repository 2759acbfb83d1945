"""What one question took in one cell: tokens, money, calls and seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from arena.accounting import Account, accounts_by_role, add_up
from arena.prices import PriceTable
from arena.types import Outcome, RunRecord


@dataclass(frozen=True, slots=True)
class Usage:
    """What one question took in one cell.

    `measured`: its latency is one: it did not fail, was no warm-up, and none of its calls was `replayed`. `truncated`:
    a reply ended at the token limit, not where the model would have. `hits`: what all retrievals brought, with what a
    reranker dropped of it. `roles`: what of the account each role of the calls took.
    """

    outcome: Outcome
    latency_seconds: float
    measured: bool
    account: Account
    retrievals: int
    truncated: bool
    replayed: bool = False
    warm_up: bool = False
    hits: int = 0
    roles: Mapping[str, Account] = field(default_factory=dict)


def usage_of(record: RunRecord, prices: PriceTable | None = None) -> Usage:
    """Tokens, money, calls and seconds of one record (`prices` None: nothing has a known price)."""
    roles = accounts_by_role(record.calls, record.cell, prices)
    replayed = any(call.replayed for call in record.calls)
    return Usage(
        outcome=record.outcome,
        latency_seconds=record.latency_seconds,
        measured=record.outcome != "failed" and record.timed and not replayed and not record.warm_up,
        account=add_up(roles.values()),
        retrievals=len(record.retrievals),
        truncated=any(call.truncated for call in record.calls),
        replayed=replayed,
        warm_up=record.warm_up,
        hits=sum(len(one.hits) + len(one.dropped) for one in record.retrievals),
        roles=roles,
    )
