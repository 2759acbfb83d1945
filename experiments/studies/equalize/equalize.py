"""`arena equalize CONFIG`: settings under which strategies spend the same per question, and the comparison at them.

equal_budget.json holds what came of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from arena.config import RunConfig, fingerprint
from arena.errors import ConfigError
from arena.leaderboard.build import Leaderboard
from arena.leaderboard.cells import CellSummary
from arena.store import FINISHED, RUNNING
from arena.store.files import replace_json
from experiments.execution.contestants import read_entries
from experiments.execution.start import too_many_failed
from experiments.studies.compare.compare import Compared, compare_runs
from experiments.studies.compare.table import compared_fields
from experiments.studies.equalize.contestants import EqualizedEntry, StartList, Unit, spent, start_list
from experiments.studies.equalize.runs import Achieved, ComparisonRuns, Pilots, Runs, Settled, WarnsOnce, pilot_sample
from experiments.studies.equalize.search import SpendingPoint
from experiments.studies.folder import COMPARISON, EqualFolder, named_after
from experiments.terminal.progress import Reporter

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class EqualizeRequest:
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

    request: EqualizeRequest
    folder: Path
    fingerprint: str
    lists: StartList
    target: float
    pilot_target: float
    origin: str
    settled: tuple[Settled, ...]
    default: Leaderboard
    compared: Compared
    trace: tuple[tuple[EqualizedEntry, SpendingPoint], ...]
    too_many_failures: bool = False

    @property
    def spread(self) -> float | None:
        """The dearest over the cheapest contestant that reaches the target, less 1; None where fewer than two do."""
        reaching = [one.chosen.spent for one in self.settled if one.solution.reached]
        return max(reaching) / min(reaching) - 1.0 if len(reaching) > 1 and min(reaching) > 0 else None

    def within(self, one: Settled) -> bool:
        """Whether a contestant meets the target on the questions of the comparison."""
        return abs(one.chosen.deviation(self.target)) <= self.request.tolerance


def own_cell(board: Leaderboard, contestant: EqualizedEntry) -> CellSummary:
    """The row of a contestant as configured."""
    return next(one for one in board.cells if contestant.has(one))


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


def opening_fields(request: EqualizeRequest, folder: Path, fingerprint: str, status: str) -> dict[str, Any]:
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


def trace_fields(trace: Sequence[tuple[EqualizedEntry, SpendingPoint]]) -> list[dict[str, Any]]:
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
    return {
        "contestant": one.contestant.name,
        "strategy": one.contestant.entry,
        "retrieval_mode": one.contestant.mode,
        "reached": one.solution.reached,
        "reason": one.solution.reason,
        "within_tolerance": found.within(one),
        "default_spent": spent(own_cell(found.default, one.contestant), found.request.unit),
        "cell": one.chosen.cell.cell,
        **_tried_fields(one.chosen, found.target),
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


DEFAULT = "default"


def equalize(request: EqualizeRequest, reporter: Reporter, quiet: WarnsOnce) -> Equalized:
    """Find the settings on pilots, run the comparison, and say how near it came. A stopped one goes on.

    `reporter` hears of progress, `quiet` of what the many runs warn of.

    Raises:
        RunInterrupted: it was stopped; the same command goes on.
        UserError: nothing can be made equal, the spending is unknown, or the folder holds something else.
    """
    check_request(request)
    config = evaluated_config(request.config)
    lists = start_list(config)
    read_entries(config)
    pilot = config.model_copy(update={"sample": pilot_sample(config, request.pilot)})
    folder = folder_of(request)
    bounds = config.budget
    if bounds.max_usd is not None or bounds.max_tokens is not None:
        reporter.say("the budget bounds each run, not all of them together")
    opening = opening_fields(request, folder.path, folder.fingerprint, RUNNING)
    with folder.holding(), closing(Runs(quiet)) as runs:
        folder.write(opening)
        pilots = Pilots(pilot, lists.contestants, request.unit, request.tolerance, folder.pilots, runs, reporter)
        choice = pilots.choose(request.target)
        placed = config.model_copy(update={"runs_dir": folder.path, "run_id": DEFAULT})
        reporter.say("comparison: the config as it is")
        _, default = runs.run(placed)
        evaluation = ComparisonRuns(config, request.unit, folder.equal, runs, reporter)
        # What the target's contestant spends as configured is another figure on these questions than in the pilots.
        whose = next((one for one in lists.contestants if one.name == choice.origin), None)
        target = choice.target if whose is None else spent(own_cell(default, whose), request.unit)
        settled = tuple(evaluation.settle(one, target, pilots, request.corrections) for one in choice.solutions)
        controls = evaluation.controls(lists.controls)
        made = [one.chosen.run for one in settled] + ([controls[0]] if controls else [])
        compared = compare_runs(made, quiet)
        boards = [default, *(one.chosen.board for one in settled), *([controls[1]] if controls else [])]
        found = Equalized(
            request,
            folder.path,
            folder.fingerprint,
            lists,
            target,
            choice.target,
            choice.origin,
            settled,
            default,
            compared,
            tuple(pilots.trace),
            any(too_many_failed(board.cells, config.max_failure_share) for board in boards),
        )
        replace_json(folder.path / COMPARISON, compared_fields(compared))
        folder.write(equalized_fields(found, FINISHED))
    return found


def check_request(request: EqualizeRequest) -> None:
    """Raise `ConfigError` for figures that mean nothing."""
    if request.target is not None and request.target <= 0:
        raise ConfigError(f"--target {request.target:g} is no spending per question: give one above 0")
    if not 0 < request.tolerance < 1:
        raise ConfigError(f"--tolerance {request.tolerance:g} is no share: give one between 0 and 1, as in 0.05")


def evaluated_config(config: RunConfig) -> RunConfig:
    """The config on the questions of the comparison: its own sample, but for those that settings are found on."""
    if config.sample.part == "all" and config.sample.ids is None:
        return config.model_copy(update={"sample": config.sample.model_copy(update={"part": "eval"})})
    return config


def folder_of(request: EqualizeRequest) -> EqualFolder:
    """Where it goes: `run_id` names it, else the config's name and all that it was asked for do."""
    config = request.config
    asked = {
        "config": config.fingerprint_fields(),
        "embedding": config.embedding.model_dump(mode="json"),
        "chunking": config.chunking.model_dump(mode="json"),
        "rerank": config.rerank.model_dump(mode="json"),
        "per_question": request.unit,
        "target": request.target,
        "tolerance": request.tolerance,
        "pilot": request.pilot,
        "corrections": request.corrections,
        "prices": config.model_dump(mode="json")["prices"] if request.unit == "usd" else None,
    }
    identity = fingerprint("equal", asked)
    named = config.run_id or f"{named_after(request.name, 'arena')}-equal-{identity[-6:]}"
    return EqualFolder(config.runs_dir / named, identity)
