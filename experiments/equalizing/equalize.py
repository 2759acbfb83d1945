"""`arena equalize CONFIG`: settings under which strategies spend the same per question, and the comparison at them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from arena.config import RunConfig, fingerprint
from arena.errors import ConfigError
from arena.leaderboard.build import Leaderboard
from arena.store import FINISHED, RUNNING
from experiments.comparing.runs import compare_runs
from experiments.comparing.table import compared_fields
from experiments.equalizing.contestant import StartList, start_list
from experiments.equalizing.equalized import Equalized, Request, equalized_fields, opening_fields, own_cell
from experiments.equalizing.evaluation import Evaluation
from experiments.equalizing.folder import EqualFolder
from experiments.equalizing.pilots import Pilots, pilot_sample
from experiments.equalizing.runs import Runs, WarnsOnce
from experiments.equalizing.solvers import Solvers
from experiments.equalizing.target import Choice
from experiments.equalizing.unit import spent
from experiments.run.lineup import line_up
from experiments.terminal.progress import Reporter

DEFAULT = "default"


def equalize(request: Request, reporter: Reporter, quiet: WarnsOnce) -> Equalized:
    """Find the settings on pilots, run the comparison, and say how near it came. A stopped one goes on.

    Args:
        request: what is asked for.
        reporter: who hears of progress.
        quiet: who hears of what the many runs have to say.

    Raises:
        RunInterrupted: it was stopped; the same command goes on.
        UserError: nothing can be made equal, the spending is unknown, or the folder holds something else.
    """
    check_request(request)
    config = evaluated_config(request.config)
    lists = start_list(config)
    line_up(config)
    pilot = config.model_copy(update={"sample": pilot_sample(config, request.pilot)})
    folder = folder_of(request)
    bounds = config.budget
    if bounds.max_usd is not None or bounds.max_tokens is not None:
        reporter.say("the budget bounds each run, not all of them together")
    opening = opening_fields(request, folder.path, folder.fingerprint, RUNNING)
    with folder.holding(), Runs(quiet) as runs:
        folder.write(opening)
        pilots = Pilots(pilot, request.unit, folder.pilots, runs, reporter)
        solvers = Solvers(pilot, lists.contestants, pilots, request.unit, request.tolerance, reporter)
        choice = solvers.choose(request.target)
        placed = config.model_copy(update={"runs_dir": folder.path, "run_id": DEFAULT})
        reporter.say("comparison: the config as it is")
        _, default = runs.run(placed)
        evaluation = Evaluation(config, request.unit, folder.equal, runs, reporter)
        target = _on_these_questions(choice, default, lists, request)
        settled = tuple(
            evaluation.settle(one, target, solvers, tolerance=request.tolerance, corrections=request.corrections)
            for one in choice.solutions
        )
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
            _too_many(boards, config),
        )
        folder.write(equalized_fields(found, FINISHED), compared_fields(compared))
    return found


def _on_these_questions(choice: Choice, default: Leaderboard, lists: StartList, request: Request) -> float:
    """The target where the comparison is made: what its contestant spends there as configured, or as given."""
    whose = next((one for one in lists.contestants if one.name == choice.origin), None)
    return choice.target if whose is None else spent(own_cell(default, whose), request.unit)


def check_request(request: Request) -> None:
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


def folder_of(request: Request) -> EqualFolder:
    """Where it goes: `run_id` names it, else the config's name, the unit and the settings do."""
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
    named = "".join(one if one.isalnum() and one.isascii() else "-" for one in request.name).strip("-")[:60]
    return EqualFolder(config.runs_dir / Path(config.run_id or f"{named or 'arena'}-equal-{identity[-6:]}"), identity)


def _too_many(boards: Iterable[Leaderboard], config: RunConfig) -> bool:
    return any(
        sum(cell.n_failed for cell in board.cells)
        > config.max_failure_share * sum(cell.n_questions for cell in board.cells)
        for board in boards
    )
