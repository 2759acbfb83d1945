"""The part of leaderboard.json that says what each role of a cell's calls took. These models are its schema."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from arena.accounting import Account, add_up
from arena.report.schema import Row
from arena.scoring import Usage


class RoleSpending(Row):
    """The calls of one role, over all questions of a cell; tokens and money are None where any call's is unknown.

    `mean_service_seconds`: per question, of the calls themselves, without queueing; calls that overlap count each,
    replayed ones none.
    """

    role: str
    calls: int = Field(ge=1)
    calls_per_question: float
    input_tokens_per_question: float | None
    output_tokens_per_question: float | None
    usd_per_question: float | None
    mean_service_seconds: float

    @property
    def tokens_per_question(self) -> float | None:
        """Input and output; None when either is unknown."""
        parts = (self.input_tokens_per_question, self.output_tokens_per_question)
        return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]


def summarise_roles(usage: Sequence[Usage]) -> list[RoleSpending]:
    """One row per role, in the order in which they were first asked; empty for a cell that asks no model."""
    roles: dict[str, list[Account]] = {}
    for one in usage:
        for role, account in one.roles.items():
            roles.setdefault(role, []).append(account)
    return [_role(role, add_up(accounts), len(usage)) for role, accounts in roles.items()]


def _role(role: str, account: Account, questions: int) -> RoleSpending:
    spent = account.whole
    return RoleSpending(
        role=role,
        calls=spent.calls,
        calls_per_question=spent.calls / questions,
        input_tokens_per_question=_per(questions, spent.input_tokens.value),
        output_tokens_per_question=_per(questions, spent.output_tokens.value),
        usd_per_question=_per(questions, spent.usd.value),
        mean_service_seconds=account.service_seconds / questions,
    )


def _per(questions: int, total: float | None) -> float | None:
    return None if total is None else total / questions
