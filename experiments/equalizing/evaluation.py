"""The contestants under the settings found, on the questions of the comparison, and what they spend there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.config import RunConfig
from arena.leaderboard.build import Leaderboard
from arena.leaderboard.cells import CellSummary
from experiments.equalizing.contestant import Contestant, Setting, config_under, run_name, shown
from experiments.equalizing.runs import Runs, n_cut
from experiments.equalizing.solvers import Solvers
from experiments.equalizing.solving import Point, Solution
from experiments.equalizing.unit import Unit, spent
from experiments.terminal.progress import Reporter
from strategies import find_variant

CONTROLS = "controls"


@dataclass(frozen=True, slots=True)
class Achieved:
    """One run of a contestant on the questions of the comparison.

    `pilot_spent`: under the same setting, in the pilot. `cell`: its row of the run's leaderboard.
    """

    setting: Setting
    pilot_spent: float
    run: Path
    spent: float
    n_cut: int
    cell: CellSummary
    board: Leaderboard

    def deviation(self, target: float) -> float:
        """Relative to the target."""
        return self.spent / target - 1.0


@dataclass(frozen=True, slots=True)
class Settled:
    """A contestant at equal budget: what the pilots said, every run that was tried, and the one that is nearest.

    `target`: spending per question on the questions of the comparison.
    """

    solution: Solution
    target: float
    tried: tuple[Achieved, ...]

    @property
    def contestant(self) -> Contestant:
        return self.solution.contestant

    @property
    def chosen(self) -> Achieved:
        """The nearest of the runs, the earlier of two."""
        return min(self.tried, key=lambda one: abs(one.deviation(self.target)))


class Evaluation:
    """Makes the runs of the comparison."""

    def __init__(self, config: RunConfig, unit: Unit, folder: Path, runs: Runs, reporter: Reporter) -> None:
        """`config`: with the sample of the comparison. `folder`: where the runs go."""
        self._config = config
        self._unit = unit
        self._folder = folder
        self._runs = runs
        self._reporter = reporter

    def settle(
        self, solution: Solution, target: float, solvers: Solvers, *, tolerance: float, corrections: int
    ) -> Settled:
        """Run a contestant; where it misses the target by more than the tolerance, correct for the pilots' error.

        Only what is spent is looked at, never a score.
        """
        tried = [self.run(solution.contestant, solution.point)]
        for _ in range(corrections if solution.reached else 0):
            if abs(tried[-1].deviation(target)) <= tolerance or tried[-1].spent <= 0:
                break
            corrected = solvers.solve(
                solution.contestant, corrected_target([(one.pilot_spent, one.spent) for one in tried], target)
            ).point
            if any(one.setting == corrected.setting for one in tried):
                break
            tried.append(self.run(solution.contestant, corrected))
        return Settled(solution, target, tuple(tried))

    def run(self, contestant: Contestant, point: Point) -> Achieved:
        """One run of one contestant, under the setting of a pilot."""
        setting = point.setting
        name = run_name(contestant, setting)
        self._reporter.say(f"comparison: {contestant.name}, {shown(setting)}")
        placed: Mapping[str, object] = {"runs_dir": self._folder, "run_id": name}
        config = config_under(self._config, contestant, setting).model_copy(update=placed)
        store, board = self._runs.run(config)
        [cell] = board.cells
        return Achieved(setting, point.spent, store.folder, spent(cell, self._unit), n_cut(store), cell, board)

    def controls(self, entries: tuple[str, ...]) -> tuple[Path, Leaderboard] | None:
        """The run of the controls; None where no one of them is asked all questions, or there is none."""
        variants = (find_variant(entry, self._config.strategy_params) for entry in entries)
        if all(variant.spec.evidence != "none" for variant in variants):
            return None  # those on gold documents leave questions out, and the comparison would do so with them
        update = {"strategies": entries, "runs_dir": self._folder, "run_id": CONTROLS}
        store, board = self._runs.run(self._config.model_copy(update=update))
        return store.folder, board


def corrected_target(pairs: Sequence[tuple[float, float]], target: float) -> float:
    """What to ask of the pilots, so that the comparison comes out at `target`.

    `pairs`: of each run so far, what its setting spends in the pilots and in the comparison, both above 0. Between the
    two runs that part the target by interpolation, else in proportion to the nearest.
    """
    below = max((one for one in pairs if one[1] <= target), key=lambda one: one[1], default=None)
    above = min((one for one in pairs if one[1] > target), key=lambda one: one[1], default=None)
    if below is not None and above is not None:
        return below[0] + (target - below[1]) / (above[1] - below[1]) * (above[0] - below[0])
    pilot, compared = min(pairs, key=lambda one: abs(one[1] - target))
    return pilot * target / compared
