"""Pilot runs: what a contestant spends under a setting, on questions that the comparison does not ask."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from pathlib import Path

from arena.config import RunConfig, SampleConfig
from arena.datasets import load_dataset
from arena.errors import ConfigError
from arena.sampling import in_part, sample
from experiments.equalizing.contestant import Contestant, Setting, config_under, run_name, shown
from experiments.equalizing.runs import Runs, n_cut
from experiments.equalizing.solving import Point
from experiments.equalizing.unit import Unit, amount_text, spent
from experiments.terminal.progress import Reporter

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
    """Pilot runs of one config, each made once. `trace`: what they found, in the order in which it was asked."""

    def __init__(self, config: RunConfig, unit: Unit, folder: Path, runs: Runs, reporter: Reporter) -> None:
        """`config`: with the sample of the pilots. `folder`: where their runs go."""
        self._config = config.model_copy(update={"judge": None, "health_check": False, "latency_probe": 0})
        self._unit = unit
        self._folder = folder
        self._runs = runs
        self._reporter = reporter
        self._points: dict[str, Point] = {}
        self._asked: dict[str, int] = {}
        self.trace: list[tuple[Contestant, Point]] = []

    def measure(self, contestant: Contestant, setting: Setting) -> Point | None:
        """What is spent under a setting; None once MAX_PILOTS have been run of this contestant."""
        name = run_name(contestant, setting)
        if name not in self._points:
            if self._asked.get(contestant.name, 0) >= MAX_PILOTS:
                return None
            self._asked[contestant.name] = self._asked.get(contestant.name, 0) + 1
            self._points[name] = self._run(contestant, setting, name)
            self._note(contestant, self._points[name])
        return self._points[name]

    def n_passages(self, contestant: Contestant) -> int:
        """Of the index."""
        return self._runs.n_passages(config_under(self._config, contestant, {}))

    def _run(self, contestant: Contestant, setting: Setting, name: str) -> Point:
        placed: Mapping[str, object] = {"runs_dir": self._folder, "run_id": name}
        config = config_under(self._config, contestant, setting).model_copy(update=placed)
        store, board = self._runs.run(config)
        [cell] = board.cells
        failing = cell.n_failed > config.max_failure_share * cell.n_questions
        point = Point(setting, inf if failing else spent(cell, self._unit), cell.n_questions, cell.n_failed,
                      n_cut(store), name)  # fmt: skip
        if failing and not setting:
            raise ConfigError(
                f"{contestant.name} fails {cell.n_failed} of {cell.n_questions} pilot questions under its own "
                f"settings: see `arena show {store.folder}`, and mend that first"
            )
        return point

    def _note(self, contestant: Contestant, point: Point) -> None:
        self.trace.append((contestant, point))
        amount = f"{amount_text(point.spent, self._unit)} {self._unit} per question"
        found = amount if isfinite(point.spent) else "too many questions fail"
        self._reporter.say(f"pilot {contestant.name}, {shown(point.setting)}: {found}")
