"""The settings of one contestant under which it spends what is asked, as far as pilots can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from experiments.equalizing.bracketing import Bracket, bracket
from experiments.equalizing.contestant import ALLOWANCE, Contestant, Setting
from experiments.equalizing.knobs import Knob

_EARLY = 0.5
"""Share of the tolerance that is near enough to look no further; the rest is left to the error of the pilots."""


@dataclass(frozen=True, slots=True)
class Point:
    """What a contestant spends per question under a setting, over a pilot; infinite where too many questions fail.

    `n_cut`: questions that were ended by an allowance.
    """

    setting: Setting
    spent: float
    n_questions: int
    n_failed: int
    n_cut: int
    run: str

    @property
    def capped(self) -> bool:
        """Whether an allowance was set to bring it down."""
        return any(name.startswith(ALLOWANCE) for name in self.setting)

    def deviation(self, target: float) -> float:
        """Relative to the target; infinite where it cannot be had."""
        return self.spent / target - 1.0


Measure = Callable[[Setting], Point | None]
"""What a pilot finds under a setting, each asked once; None where no more may be asked."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The nearest a contestant comes to a target. `reason`: why that is not within the tolerance; None: it is."""

    contestant: Contestant
    target: float
    point: Point
    reason: str | None

    @property
    def reached(self) -> bool:
        return self.reason is None


def solve(
    contestant: Contestant,
    knobs: Sequence[Knob],
    target: float,
    tolerance: float,
    measure: Measure,
    last_resort: Callable[[Point], Knob | None],
) -> Solution:
    """Turn one knob after the other, each from where the one before it came nearest: from above, then from below.

    Args:
        contestant: whose settings are looked for.
        knobs: those that may be turned, the first one first.
        target: what it is to spend per question, above 0.
        tolerance: share of the target by which it may miss.
        measure: runs a pilot; the config's own settings are the empty setting.
        last_resort: the allowance that may cut the spending of a point down; None: there is none.
    """
    search = _Search(target, tolerance, measure)
    own = search.look({})
    assert own is not None, "the pilot of the own settings comes first, and is always granted"
    for knob in knobs:
        if search.is_near(_EARLY):
            break
        search.turn(knob)
    if not search.is_near(1.0) and (over := search.least_above()) is not None and (cap := last_resort(over)):
        search.bases = [over.setting]
        search.turn(cap)
    point = search.best()
    near = abs(point.deviation(target)) <= tolerance
    return Solution(contestant, target, point, None if near else search.why())


class _Search:
    """The points seen for one target, and the settings from which the next knob is turned."""

    def __init__(self, target: float, tolerance: float, measure: Measure) -> None:
        self.bases: list[Setting] = [{}]
        self._target = target
        self._tolerance = tolerance
        self._measure = measure
        self._seen: list[Point] = []

    def look(self, setting: Setting) -> Point | None:
        """The point of a setting, noted."""
        point = self._measure(setting)
        if point is not None and point not in self._seen:
            self._seen.append(point)
        return point

    def turn(self, knob: Knob) -> None:
        """Search one knob, the others as they are, and go on from what it came to."""
        ends: list[Setting] = []
        for base in self.bases:
            found = self._bracket(base, knob)
            ends += [_with(base, knob, one.value) for one in (found.above, found.below) if one and isfinite(one.cost)]
            if self.is_near(_EARLY):
                break
        self.bases = ends[:2] or self.bases

    def _bracket(self, base: Setting, knob: Knob) -> Bracket:
        def cost(value: int) -> float | None:
            point = self.look(_with(base, knob, value))
            return None if point is None else point.spent

        return bracket(cost, knob.low, knob.high, knob.own, self._target, _EARLY * self._tolerance)

    def best(self) -> Point:
        """The nearest; one that no allowance cut, where one is within the tolerance."""
        whole = [one for one in self._seen if not one.capped and self._misses(one) <= self._tolerance]
        return min(whole or self._seen, key=self._misses)

    def is_near(self, share: float) -> bool:
        """Whether any point is within that share of the tolerance."""
        return self._misses(self.best()) <= share * self._tolerance

    def least_above(self) -> Point | None:
        """The cheapest point above the target."""
        above = [one for one in self._seen if self._target < one.spent and isfinite(one.spent)]
        return min(above, key=lambda one: one.spent, default=None)

    def why(self) -> str:
        """Why no point is within the tolerance."""
        costs = sorted(one.spent for one in self._seen)
        known = [one for one in costs if isfinite(one)]
        if len(set(costs)) == 1:
            return "no setting changes what it spends"
        if known[-1] <= self._target:
            failing = " without failing questions" if len(known) < len(costs) else ""
            return f"it does not get dearer{failing}"
        return "it does not get cheaper" if known[0] > self._target else "its steps are wider than the tolerance"

    def _misses(self, point: Point) -> float:
        return abs(point.deviation(self._target))


def _with(base: Setting, knob: Knob, value: int) -> Setting:
    """The setting with a knob at a value; what is as configured is not named."""
    rest = {name: one for name, one in base.items() if name != knob.name}
    own = value == knob.own and not knob.name.startswith(ALLOWANCE)
    return rest if own else {**rest, knob.name: value}
