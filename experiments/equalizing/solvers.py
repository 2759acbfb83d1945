"""All contestants brought to one target."""

from __future__ import annotations

from collections.abc import Sequence

from arena.config import RunConfig
from experiments.equalizing.contestant import Contestant, Setting
from experiments.equalizing.knobs import Knob, allowance_knob, knobs_of
from experiments.equalizing.pilots import Pilots
from experiments.equalizing.solving import Point, Solution, solve
from experiments.equalizing.target import Choice, choose_target
from experiments.equalizing.unit import Unit, amount_text
from experiments.terminal.progress import Reporter


class Solvers:
    """Solves contestants by pilots, again for another target where that is asked."""

    def __init__(
        self,
        config: RunConfig,
        contestants: Sequence[Contestant],
        pilots: Pilots,
        unit: Unit,
        tolerance: float,
        reporter: Reporter,
    ) -> None:
        self._config = config
        self._contestants = contestants
        self._pilots = pilots
        self._unit = unit
        self._tolerance = tolerance
        self._reporter = reporter
        n_passages = pilots.n_passages(contestants[0])
        self._knobs: dict[Contestant, tuple[Knob, ...]] = {
            one: knobs_of(config, one, unit, n_passages) for one in contestants
        }

    def choose(self, given: float | None) -> Choice:
        """The target (see `choose_target`) and who meets it how."""
        own = {one: self._own(one) for one in self._contestants}
        adjustable = [one for one in self._contestants if self._knobs[one]]
        return choose_target(given, own, adjustable, self._solve_all)

    def solve(self, contestant: Contestant, target: float) -> Solution:
        """One contestant for one target."""

        def measure(setting: Setting) -> Point | None:
            return self._pilots.measure(contestant, setting)

        def last_resort(point: Point) -> Knob | None:
            return allowance_knob(self._config, contestant, self._unit, target, point.spent)

        return solve(contestant, self._knobs[contestant], target, self._tolerance, measure, last_resort)

    def _solve_all(self, target: float) -> list[Solution]:
        self._reporter.say(
            f"looking for settings that spend {amount_text(target, self._unit)} {self._unit} per question ..."
        )
        return [self.solve(one, target) for one in self._contestants]

    def _own(self, contestant: Contestant) -> Point:
        point = self._pilots.measure(contestant, {})
        assert point is not None, "the first pilot of a contestant is always granted"
        return point
