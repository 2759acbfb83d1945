"""An equal-budget comparison and what came of it; equal_budget.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from arena.config import RunConfig
from arena.leaderboard.build import Leaderboard
from arena.leaderboard.cells import CellSummary
from experiments.comparing.compared import Compared
from experiments.equalizing.contestant import Contestant, StartList
from experiments.equalizing.evaluation import Achieved, Settled
from experiments.equalizing.solving import Point
from experiments.equalizing.unit import Unit, spent

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for.

    `target`: spending per question in the unit (None: found). `tolerance`: share of it by which a contestant may miss.
    `pilot`: questions of a pilot (None: the usual number). `corrections`: runs more per contestant, at most, where the
    pilots' error was too large. `name`: of the config, for the folder.
    """

    config: RunConfig
    unit: Unit
    target: float | None = None
    tolerance: float = 0.05
    pilot: int | None = None
    corrections: int = 2
    name: str = "arena"


@dataclass(frozen=True, slots=True)
class Equalized:
    """What came of it.

    `target`: spending per question on the questions of the comparison; `origin`: whose own spending that is, or
    `given`; `pilot_target`: the same on the questions of the pilots. `default`: the leaderboard of the config as it is,
    on the questions of the comparison. `trace`: every pilot, in the order of asking.
    """

    request: Request
    folder: Path
    fingerprint: str
    lists: StartList
    target: float
    pilot_target: float
    origin: str
    settled: tuple[Settled, ...]
    default: Leaderboard
    compared: Compared
    trace: tuple[tuple[Contestant, Point], ...]
    too_many_failures: bool = False

    @property
    def spread(self) -> float | None:
        """The dearest over the cheapest contestant that reaches the target, less 1; None where fewer than two do."""
        reaching = [one.chosen.spent for one in self.settled if one.solution.reached]
        return max(reaching) / min(reaching) - 1.0 if len(reaching) > 1 and min(reaching) > 0 else None

    def within(self, one: Settled) -> bool:
        """Whether a contestant meets the target on the questions of the comparison."""
        return abs(one.chosen.deviation(self.target)) <= self.request.tolerance

    def own_cell(self, contestant: Contestant) -> CellSummary:
        """Its row of the default comparison."""
        return own_cell(self.default, contestant)


def own_cell(board: Leaderboard, contestant: Contestant) -> CellSummary:
    """The row of a contestant as configured."""
    wanted = contestant.variant.settings.items()
    return next(
        cell
        for cell in board.cells
        if (cell.strategy, cell.retrieval_mode) == (contestant.variant.spec.name, contestant.mode)
        and wanted <= cell.params.items()
    )


def equalized_fields(found: Equalized, status: str) -> dict[str, Any]:
    """equal_budget.json: plain JSON values, figures as they are; None = unknown, or not to be had."""
    request = found.request
    return opening_fields(request, found.folder, found.fingerprint, status) | {
        "target": found.target,
        "pilot_target": found.pilot_target,
        "target_of": found.origin,
        "spread": found.spread,
        "contestants": [_contestant_fields(found, one) for one in found.settled],
        "controls": list(found.lists.controls),
        "left_out": list(found.lists.silent),
        "trace": trace_fields(found.trace),
        "runs": [run.folder for run in found.compared.runs],
    }


def opening_fields(request: Request, folder: Path, fingerprint: str, status: str) -> dict[str, Any]:
    """What is known before the first pilot."""
    return {
        "schema_version": SCHEMA_VERSION,
        "equal_budget_id": folder.name,
        "status": status,
        "fingerprint": fingerprint,
        "per_question": request.unit,
        "tolerance": request.tolerance,
        "corrections": request.corrections,
        "target_given": request.target,
    }


def trace_fields(trace: Sequence[tuple[Contestant, Point]]) -> list[dict[str, Any]]:
    """Every pilot in the order of asking; `spent` None: too many questions failed."""
    return [
        {
            "contestant": contestant.name,
            "setting": dict(point.setting),
            "spent": point.spent if isfinite(point.spent) else None,
            "n_questions": point.n_questions,
            "n_failed": point.n_failed,
            "n_cut": point.n_cut,
            "run": point.run,
        }
        for contestant, point in trace
    ]


def _contestant_fields(found: Equalized, one: Settled) -> dict[str, Any]:
    own = spent(found.own_cell(one.contestant), found.request.unit)
    return {
        "contestant": one.contestant.name,
        "strategy": one.contestant.entry,
        "retrieval_mode": one.contestant.mode,
        "setting": dict(one.chosen.setting),
        "reached": one.solution.reached,
        "reason": one.solution.reason,
        "within_tolerance": found.within(one),
        "default_spent": own,
        "pilot_spent": one.chosen.pilot_spent,
        "spent": one.chosen.spent,
        "deviation": one.chosen.deviation(found.target),
        "n_cut": one.chosen.n_cut,
        "cell": one.chosen.cell.cell,
        "run": str(one.chosen.run),
        "tried": [_tried_fields(tried, found.target) for tried in one.tried],
    }


def _tried_fields(tried: Achieved, target: float) -> dict[str, Any]:
    return {
        "setting": dict(tried.setting),
        "run": str(tried.run),
        "pilot_spent": tried.pilot_spent,
        "spent": tried.spent,
        "deviation": tried.deviation(target),
        "n_cut": tried.n_cut,
    }
