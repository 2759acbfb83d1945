"""The runs of an equal-budget comparison: pilots, then the comparison, each begun, continued or read where finished.

A pilot tells what an entry spends under a setting, on questions that the comparison does not ask. Then all entries are
brought to one target, and run under the settings found on the questions of the comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite
from pathlib import Path

from arena.config import RunConfig, SampleConfig
from arena.datasets import load_dataset
from arena.errors import ConfigError, RunInterrupted
from arena.leaderboard.build import Leaderboard, read_leaderboard
from arena.leaderboard.cells import CellSummary
from arena.sampling import in_part, sample
from arena.store import MANIFEST, RunStore
from experiments.execution.start import resume, start, too_many_failed
from experiments.studies.equalize.contestants import (
    AdjustableSetting,
    EqualizedEntry,
    Setting,
    Unit,
    adjustable_settings,
    allowance_setting,
    amount_text,
    config_under,
    run_name,
    shown,
    spent,
)
from experiments.studies.equalize.search import Solution, SpendingPoint, TargetChoice, choose_target, solve
from experiments.studies.sweep.config import PointPreparer, is_done
from experiments.terminal.progress import Reporter
from strategies import find_variant


class WarnsOnce(Reporter):
    """Says nothing but warnings, and each of them once, however many runs give it."""

    def say(self, text: str) -> None:
        """Nothing."""

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            super().warn(text)


class Runs:
    """Makes runs one after the other; those that differ only in how they retrieve share one open index."""

    def __init__(self, reporter: WarnsOnce) -> None:
        self._reporter = reporter
        self._preparer = PointPreparer(reporter)

    def run(self, config: RunConfig) -> tuple[RunStore, Leaderboard]:
        """The run that `config` places and names. A finished one is only read, and asks nothing.

        Raises:
            RunInterrupted: it was stopped; the message says that all goes on with the same command.
            RunStoreError: its folder was made under other settings.
        """
        store = RunStore(config.runs_dir / str(config.run_id))
        if is_done(store, config):
            return store, read_leaderboard(store)
        prepared = self._preparer.prepare(config)
        begun = (store.folder / MANIFEST).is_file()
        try:
            outcome = resume(prepared, store, self._reporter) if begun else start(prepared, self._reporter)
        except RunInterrupted as error:
            raise RunInterrupted(f"{error}\nThe same `arena equalize` command goes on with all of it.") from error
        return store, outcome.board

    def run_alone(
        self, config: RunConfig, contestant: EqualizedEntry, setting: Setting, folder: Path
    ) -> tuple[RunStore, Leaderboard, CellSummary]:
        """The run of one contestant under a setting, and its one row. `folder`: where runs of its kind go."""
        placed = {"runs_dir": folder, "run_id": run_name(contestant, setting)}
        store, board = self.run(config_under(config, contestant, setting).model_copy(update=placed))
        [cell] = board.cells
        return store, board, cell

    def n_passages(self, config: RunConfig) -> int:
        """Of the index that `config` searches."""
        prepared = self._preparer.prepare(config)
        return int(prepared.equipment.index_facts["passages"]) if prepared.equipment else 0

    def close(self) -> None:
        """Close the index that is open, if one is."""
        self._preparer.close()


def n_cut(store: RunStore) -> int:
    """Questions of a run that were ended by an allowance."""
    return sum(any(one.node == "allowance" for one in record.decisions) for record in store.records())


MAX_PILOTS = 24
"""Pilot runs per contestant at most, over all that is tried with it."""

PILOT_QUESTIONS = 30
"""Asked by a pilot unless the user says otherwise."""


def pilot_sample(config: RunConfig, limit: int | None) -> SampleConfig:
    """Questions of the part dev that the comparison does not ask, at most `limit` (None: PILOT_QUESTIONS).

    Raises:
        ConfigError: the comparison itself asks dev, or there is no other question.
        DatasetError: the data cannot be loaded.
    """
    own = config.sample
    if own.part == "dev":
        raise ConfigError(
            "sample.part is 'dev', where settings are found: set it to eval, so that they are held to other questions"
        )
    wanted = limit or PILOT_QUESTIONS
    taken = frozenset(own.ids or ())
    dev = in_part(load_dataset(config.dataset).questions, "dev")
    free = [one for one in dev if one.question_id not in taken]
    if not free:
        raise ConfigError(
            f"no question of {config.dataset!r} is left for the pilots in the part dev: name fewer in sample.ids"
        )
    if not taken:
        return SampleConfig(limit=wanted, balance=own.balance, part="dev")
    drawn = sample(free, wanted, balance=own.balance, seed=config.seed)
    return SampleConfig(ids=tuple(one.question_id for one in drawn))


class Pilots:
    """Solves contestants by pilot runs, each made once. `trace`: what they found, in the order of asking."""

    def __init__(
        self,
        config: RunConfig,
        contestants: Sequence[EqualizedEntry],
        unit: Unit,
        tolerance: float,
        folder: Path,
        runs: Runs,
        reporter: Reporter,
    ) -> None:
        """`config`: with the sample of the pilots. `folder`: where their runs go."""
        self.tolerance = tolerance
        self.trace: list[tuple[EqualizedEntry, SpendingPoint]] = []
        # Only what strategies spend is looked at, so that judging and probing would be paid for nothing.
        self._config = config.model_copy(update={"judge": None, "health_check": False, "latency_probe": 0})
        self._unit, self._folder, self._runs, self._reporter = unit, folder, runs, reporter
        self._points: dict[str, SpendingPoint] = {}
        self._asked: Counter[str] = Counter()
        n_passages = runs.n_passages(config_under(self._config, contestants[0], {}))
        self._adjustable: dict[EqualizedEntry, tuple[AdjustableSetting, ...]] = {
            one: adjustable_settings(config, one, unit, n_passages) for one in contestants
        }

    def choose(self, given: float | None) -> TargetChoice:
        """The target (see `choose_target`) and who meets it how."""
        own = {one: self._own(one) for one in self._adjustable}
        adjustable = [one for one, settings in self._adjustable.items() if settings]
        return choose_target(given, own, adjustable, self._solve_all)

    def solve(self, contestant: EqualizedEntry, target: float) -> Solution:
        """One contestant for one target, which may be solved again for another."""

        def last_resort(point: SpendingPoint) -> AdjustableSetting | None:
            return allowance_setting(self._config, contestant, self._unit, target, point.spent)

        measure = partial(self.measure, contestant)
        return solve(contestant, self._adjustable[contestant], target, self.tolerance, measure, last_resort)

    def measure(self, contestant: EqualizedEntry, setting: Setting) -> SpendingPoint | None:
        """What is spent under a setting; None once MAX_PILOTS have been run of this contestant."""
        name = run_name(contestant, setting)
        if name not in self._points:
            if self._asked[contestant.name] >= MAX_PILOTS:
                return None
            self._asked[contestant.name] += 1
            self._points[name] = self._run(contestant, setting, name)
            self._note(contestant, self._points[name])
        return self._points[name]

    def _run(self, contestant: EqualizedEntry, setting: Setting, name: str) -> SpendingPoint:
        store, _, cell = self._runs.run_alone(self._config, contestant, setting, self._folder)
        failing = too_many_failed([cell], self._config.max_failure_share)
        point = SpendingPoint(setting, inf if failing else spent(cell, self._unit), cell.n_questions, cell.n_failed,
                      n_cut(store), name)  # fmt: skip
        if failing and not setting:
            raise ConfigError(
                f"{contestant.name} fails {cell.n_failed} of {cell.n_questions} pilot questions under its own "
                f"settings: see `arena show {store.folder}`, and mend that first"
            )
        return point

    def _note(self, contestant: EqualizedEntry, point: SpendingPoint) -> None:
        self.trace.append((contestant, point))
        amount = f"{amount_text(point.spent, self._unit)} {self._unit} per question"
        found = amount if isfinite(point.spent) else "too many questions fail"
        self._reporter.say(f"pilot {contestant.name}, {shown(point.setting)}: {found}")

    def _solve_all(self, target: float) -> list[Solution]:
        self._reporter.say(
            f"looking for settings that spend {amount_text(target, self._unit)} {self._unit} per question ..."
        )
        return [self.solve(one, target) for one in self._adjustable]

    def _own(self, contestant: EqualizedEntry) -> SpendingPoint:
        point = self.measure(contestant, {})
        assert point is not None, "the first pilot of a contestant is always granted"
        return point


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
    def contestant(self) -> EqualizedEntry:
        return self.solution.contestant

    @property
    def chosen(self) -> Achieved:
        """The nearest of the runs, the earlier of two."""
        return min(self.tried, key=lambda one: abs(one.deviation(self.target)))


class ComparisonRuns:
    """Makes the runs of the comparison."""

    def __init__(self, config: RunConfig, unit: Unit, folder: Path, runs: Runs, reporter: Reporter) -> None:
        """`config`: with the sample of the comparison. `folder`: where the runs go."""
        self._config, self._unit, self._folder, self._runs, self._reporter = config, unit, folder, runs, reporter

    def settle(self, solution: Solution, target: float, pilots: Pilots, corrections: int) -> Settled:
        """Run a contestant; where it misses the target by more than the tolerance, correct for the pilots' error.

        Only what is spent is looked at, never a score.
        """
        tried = [self.run(solution.contestant, solution.point)]
        for _ in range(corrections if solution.reached else 0):
            if abs(tried[-1].deviation(target)) <= pilots.tolerance or tried[-1].spent <= 0:
                break
            asked = corrected_target([(one.pilot_spent, one.spent) for one in tried], target)
            corrected = pilots.solve(solution.contestant, asked).point
            if any(one.setting == corrected.setting for one in tried):
                break
            tried.append(self.run(solution.contestant, corrected))
        return Settled(solution, target, tuple(tried))

    def run(self, contestant: EqualizedEntry, point: SpendingPoint) -> Achieved:
        """One run of one contestant, under the setting of a pilot."""
        setting = point.setting
        self._reporter.say(f"comparison: {contestant.name}, {shown(setting)}")
        store, board, cell = self._runs.run_alone(self._config, contestant, setting, self._folder)
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
