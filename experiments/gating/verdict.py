"""What a gate found: one check per metric and cell, and whether the run may pass."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from arena.statistics.noninferiority import Outcome
from experiments.gating.policy import Policy

Kind = Literal["margin", "floor", "ceiling", "missing"]


@dataclass(frozen=True, slots=True)
class Check:
    """One metric of one cell against its limit.

    Args:
        cell: the cell's name, with the setting that tells it from its namesakes.
        metric: a metric, `tokens`, `usd` or `p95_seconds`; of a missing cell `cell`.
        kind: what `limit` is; `missing`: the baseline has it, and the run does not.
        outcome: `inconclusive` where too little is known to tell.
        why: the outcome in words.
        warn_only: it cannot fail the gate.
        n: questions it rests on.
        new, old: means (of `p95_seconds`: percentiles) of run and baseline on these questions.
        change: new - old; of spending, new / old - 1.
        at_worst: the one-sided confidence bound of `change` on its bad side.
        p, p_adjusted: one-sided, of "not worse"; None where `change` does not reach the margin.
        catches: the true change for the worse that would have failed with 80 % probability.
    """

    cell: str
    metric: str
    kind: Kind
    outcome: Outcome
    why: str
    limit: float | None = None
    warn_only: bool = False
    n: int = 0
    new: float | None = None
    old: float | None = None
    change: float | None = None
    at_worst: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    catches: float | None = None

    @property
    def name(self) -> str:
        """As in `retrieval_recall of vanilla/dense`."""
        return f"{self.metric} of {self.cell}"


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """All checks of a run.

    `run`, `baseline`: the folders as they were named. `policy_file` None: the built-in policy. `notes`: what else a
    reader must know, one sentence each.
    """

    run: Path
    baseline: Path | None
    policy: Policy
    policy_file: Path | None
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no check stops the run."""
        return not any(self.stops(check) for check in self.checks)

    def stops(self, check: Check) -> bool:
        """Whether this check alone fails the gate."""
        failing = ("fail", "inconclusive") if self.policy.inconclusive == "fail" else ("fail",)
        return check.outcome in failing and not check.warn_only

    @property
    def stopping(self) -> tuple[Check, ...]:
        """The checks that fail the gate."""
        return tuple(check for check in self.checks if self.stops(check))

    def count(self, outcome: Outcome) -> int:
        """How many checks came out so."""
        return sum(check.outcome == outcome for check in self.checks)
