"""Why a metric cannot pass a gate, whatever its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from arena.leaderboard.metrics import COVERAGE_FLOOR, ScoreColumns, columns_of_scores
from arena.scoring import CellScores
from arena.scoring.guards import Finding
from experiments.gating.paired_scores import coverage_of
from experiments.gating.policy import SPENDING


@dataclass(frozen=True)
class Scored:
    """A cell's scores, what guards say of them, and metric -> who judged it."""

    cell: CellScores
    guards: Sequence[Finding]
    judges: Mapping[str, str | None]

    @cached_property
    def columns(self) -> ScoreColumns:
        """The scores, metric by metric."""
        return columns_of_scores(self.cell)

    def invalid(self, metric: str) -> str | None:
        """Why a metric of the cell says nothing."""
        return next((one.message for one in self.guards if one.metric in (None, metric)), None)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason why nothing passes.

    `broken`: it is invalid in the run, and was not in the baseline. `incomparable`: nothing can be said of a change,
    for the worse neither. `partial`: too many questions failed; that it is worse can still be shown, since they count
    as 0.
    """

    kind: Literal["broken", "incomparable", "partial"]
    why: str


def doubt_of(metric: str, new: Scored, old: Scored) -> Doubt | None:
    """The first reason there is; None where the metric can pass."""
    if message := old.invalid(metric):
        return Doubt("incomparable", f"invalid in the baseline: {message}")
    if message := new.invalid(metric):
        return Doubt("broken", f"invalid in the run: {message}")
    if metric in SPENDING:
        return None
    if metric in new.judges and metric in old.judges and new.judges[metric] != old.judges[metric]:
        return Doubt("incomparable", "not judged by the judge of the baseline: judge both with one")
    for whose, side in (("baseline", old), ("run", new)):
        if doubt := _uncovered(metric, side.columns, whose):
            return doubt
    return None


def _uncovered(metric: str, scores: ScoreColumns, whose: str) -> Doubt | None:
    coverage, without_failures = coverage_of(scores, metric), coverage_of(scores, metric, failures=False)
    if without_failures is not None and without_failures < COVERAGE_FLOOR:
        kind: Literal["incomparable", "partial"] = "incomparable"
    elif coverage is not None and coverage < COVERAGE_FLOOR:
        kind = "partial"
    else:
        return None
    return Doubt(kind, f"withheld: coverage {coverage:.1%} of the {whose} is under {COVERAGE_FLOOR:.0%}")
