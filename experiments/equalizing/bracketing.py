"""The whole number at which a growing cost comes nearest to a target, found with few looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, inf, isfinite, log, sqrt

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

    Args:
        look: the cost at a value, which should not fall as the value grows.
        low: the least value there is.
        high: the largest.
        start: where to begin.
        target: a cost, above 0.
        close: how far from the target is near enough.
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
