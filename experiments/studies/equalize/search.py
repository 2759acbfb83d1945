"""Find the settings of one entry under which it spends what is asked, as far as pilots can tell; and the target itself.

The search finds the whole number at which a growing cost comes nearest to a target, with few looks. The target is the
user's, or the spending of the dearest entry whose price all others can pay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, isfinite, log, sqrt

from arena.errors import ConfigError
from experiments.studies.equalize.contestants import ALLOWANCE, AdjustableSetting, EqualizedEntry, Setting

MAX_LOOKS = 8
"""At one knob for one target."""

_GROWTH = 8
"""Most that a value is multiplied by in one step: what it costs there is not known yet, and is paid."""

_FLAT = 1e-3
"""Relative change of a cost below which a knob has no effect any more."""

Look = Callable[[int], float | None]
"""The cost at a value; infinite where it cannot be had, None where no more may be asked."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A value and its cost."""

    value: int
    cost: float


@dataclass(slots=True)
class Bracket:
    """The nearest values seen whose cost is at most the target, and above it; None = none was seen."""

    low: int
    high: int
    target: float
    below: Seen | None = None
    above: Seen | None = None
    _before: Seen | None = None
    _over: Seen | None = None
    _same_side: int = 0

    def take(self, seen: Seen) -> None:
        """Narrow the bracket."""
        if seen.cost <= self.target:
            self._same_side = max(self._same_side, 0) + 1
            self._before, self.below = self.below, seen
        else:
            self._same_side = min(self._same_side, 0) - 1
            self._over, self.above = self.above, seen

    def following(self) -> int | None:
        """The value to look at next; None where there is nothing left to find."""
        if self.below and self.above:
            return self._between(self.below, self.above)
        if self.below:
            return self._upwards(self.below)
        return self._downwards(self.above) if self.above else None

    def _between(self, below: Seen, above: Seen) -> int | None:
        """In proportion, as costs bend; where that stays on one side, the middle, in proportion too."""
        width = above.value - below.value
        if width <= 1:
            return None
        wanted: float
        if not isfinite(above.cost):
            wanted = below.value + width // 2
        elif abs(self._same_side) > 2:
            wanted = sqrt(below.value * above.value)
        elif below.value > 0 and below.cost > 0:
            share = log(self.target / below.cost) / log(above.cost / below.cost)
            wanted = below.value * (above.value / below.value) ** share
        else:
            wanted = below.value + (self.target - below.cost) / (above.cost - below.cost) * width
        return min(max(round(wanted), below.value + 1), above.value - 1)

    def _upwards(self, below: Seen) -> int | None:
        """By the slope of the last two values, or in proportion."""
        if below.value >= self.high:
            return None
        wanted: float = below.value * self.target / below.cost if below.cost > 0 else inf
        if before := self._before:
            rise = below.cost - before.cost
            if rise <= _FLAT * below.cost:
                return None
            wanted = below.value + (self.target - below.cost) / rise * (below.value - before.value)
        most = min(self.high, below.value * _GROWTH)
        return max(below.value + 1, ceil(min(wanted, most)))

    def _downwards(self, above: Seen) -> int | None:
        """By the slope of the last two values, in proportion, or by halves; where nothing changes, to the end."""
        if above.value <= self.low:
            return None
        wanted: float = above.value // 2
        if isfinite(above.cost):
            wanted = above.value * self.target / above.cost
            over = self._over
            if over is not None and isfinite(over.cost):
                if over.cost - above.cost <= _FLAT * over.cost:
                    return self.low
                slope = (over.cost - above.cost) / (over.value - above.value)
                wanted = above.value - (above.cost - self.target) / slope
        return min(max(self.low, floor(wanted)), above.value - 1)


def bracket(look: Look, low: int, high: int, start: int, target: float, close: float) -> Bracket:
    """Look at values from `start` on until one costs within `close` (a share) of the target, or two neighbours part it.

    The cost should not fall as the value grows from `low` to `high`. `target`: a cost, above 0.
    """
    found, value = Bracket(low, high, target), start
    for _ in range(MAX_LOOKS):
        cost = look(value)
        if cost is None:
            break
        found.take(Seen(value, cost))
        if abs(cost - target) <= close * target:
            break
        following = found.following()
        if following is None:
            break
        value = following
    return found


_EARLY = 0.5
"""Share of the tolerance that is near enough to look no further; the rest is left to the error of the pilots."""


@dataclass(frozen=True, slots=True)
class SpendingPoint:
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


Measure = Callable[[Setting], SpendingPoint | None]
"""What a pilot finds under a setting, each asked once; None where no more may be asked."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The nearest a contestant comes to a target. `reason`: why that is not within the tolerance; None: it is."""

    contestant: EqualizedEntry
    target: float
    point: SpendingPoint
    reason: str | None

    @property
    def reached(self) -> bool:
        return self.reason is None


def solve(
    contestant: EqualizedEntry,
    knobs: Sequence[AdjustableSetting],
    target: float,
    tolerance: float,
    measure: Measure,
    last_resort: Callable[[SpendingPoint], AdjustableSetting | None],
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
        self._seen: list[SpendingPoint] = []

    def look(self, setting: Setting) -> SpendingPoint | None:
        """The point of a setting, noted."""
        point = self._measure(setting)
        if point is not None and point not in self._seen:
            self._seen.append(point)
        return point

    def turn(self, knob: AdjustableSetting) -> None:
        """Search one knob, the others as they are, and go on from what it came to."""
        ends: list[Setting] = []
        for base in self.bases:
            found = self._bracket(base, knob)
            ends += [_with(base, knob, one.value) for one in (found.above, found.below) if one and isfinite(one.cost)]
            if self.is_near(_EARLY):
                break
        self.bases = ends[:2] or self.bases

    def _bracket(self, base: Setting, knob: AdjustableSetting) -> Bracket:
        def cost(value: int) -> float | None:
            point = self.look(_with(base, knob, value))
            return None if point is None else point.spent

        return bracket(cost, knob.low, knob.high, knob.own, self._target, _EARLY * self._tolerance)

    def best(self) -> SpendingPoint:
        """The nearest; one that no allowance cut, where one is within the tolerance."""
        whole = [one for one in self._seen if not one.capped and self._misses(one) <= self._tolerance]
        return min(whole or self._seen, key=self._misses)

    def is_near(self, share: float) -> bool:
        """Whether any point is within that share of the tolerance."""
        return self._misses(self.best()) <= share * self._tolerance

    def least_above(self) -> SpendingPoint | None:
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

    def _misses(self, point: SpendingPoint) -> float:
        return abs(point.deviation(self._target))


def _with(base: Setting, knob: AdjustableSetting, value: int) -> Setting:
    """The setting with a knob at a value; what is as configured is not named."""
    rest = {name: one for name, one in base.items() if name != knob.name}
    own = value == knob.own and not knob.name.startswith(ALLOWANCE)
    return rest if own else {**rest, knob.name: value}


GIVEN = "given"

SolveAll = Callable[[float], Sequence[Solution]]
"""The solutions of all contestants for a target."""


@dataclass(frozen=True, slots=True)
class TargetChoice:
    """The target, whose spending it is (GIVEN: the user's own figure), and how each contestant meets it."""

    target: float
    origin: str
    solutions: tuple[Solution, ...]


def choose_target(
    given: float | None,
    own: Mapping[EqualizedEntry, SpendingPoint],
    adjustable: Sequence[EqualizedEntry],
    solve_all: SolveAll,
) -> TargetChoice:
    """The user's target; else the dearest own spending that every adjustable contestant reaches.

    Where none is reached by all, the one that most reach, the dearer of two. `own`: under the config's own settings.

    Raises:
        ConfigError: nobody spends anything, or no contestant has a setting that changes what it spends.
    """
    if given is not None:
        return TargetChoice(given, GIVEN, tuple(solve_all(given)))
    if not adjustable:
        raise ConfigError("no contestant has a setting that changes what it spends: choose another --per-question")
    dearest = sorted(adjustable, key=lambda one: -own[one].spent)
    if own[dearest[0]].spent <= 0:
        raise ConfigError("no contestant spends anything per question: there is nothing to make equal")
    best: TargetChoice | None = None
    for contestant in dearest:
        if own[contestant].spent <= 0:
            break
        choice = TargetChoice(own[contestant].spent, contestant.name, tuple(solve_all(own[contestant].spent)))
        n_reached = _n_reached(choice, adjustable)
        if best is None or n_reached > _n_reached(best, adjustable):
            best = choice
        if n_reached == len(adjustable):
            break
    assert best is not None, "the dearest contestant spends something"
    return best


def _n_reached(choice: TargetChoice, adjustable: Sequence[EqualizedEntry]) -> int:
    return sum(one.reached for one in choice.solutions if one.contestant in adjustable)
