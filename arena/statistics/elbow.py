"""Where a curve stops paying: its elbow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_STRAIGHT = 1e-9
"""Distance, on axes from 0 to 1, that is left on a straight line by rounding."""


def elbow(xs: Sequence[float], ys: Sequence[float]) -> int | None:
    """The place of the elbow: the point of largest distance from the chord of the normalised curve.

    Both axes are scaled to [0, 1] by their smallest and largest value; the chord joins the first point to the last.
    Only points on the side where the curve has come further in y than in x count: an elbow is where most of the change
    is had and the rest comes slowly. The first of equals counts. None for fewer than 3 points, for a curve that ends
    where it began, for a straight one, and for one that gets ever steeper. Satopaa et al. 2011, "Finding a 'Kneedle' in
    a Haystack", offline, without its smoothing, which a handful of points does not bear. It is a rule of thumb: it
    knows nothing of chance, and moves with the range of `xs`.

    Raises:
        ValueError: `xs` and `ys` differ in length, or `xs` do not increase.
    """
    if len(xs) != len(ys):
        raise ValueError(f"{len(xs)} xs and {len(ys)} ys")
    if any(later <= before for before, later in pairwise(xs)):
        raise ValueError("xs must increase")
    if len(xs) < 3 or ys[0] == ys[-1]:
        return None
    distances = [
        _distance(x, y, (xs[0], ys[0]), (xs[-1], ys[-1]), max(ys) - min(ys)) for x, y in zip(xs, ys, strict=True)
    ]
    furthest = max(distances)
    return distances.index(furthest) if furthest > _STRAIGHT else None


def _distance(x: float, y: float, first: tuple[float, float], last: tuple[float, float], height: float) -> float:
    """From the chord, on normalised axes; above 0 where the curve has come further in y than in x."""
    across, up = (x - first[0]) / (last[0] - first[0]), (y - first[1]) / height
    slope = (last[1] - first[1]) / height
    towards = 1.0 if slope > 0 else -1.0
    return float(towards * (up - slope * across) / (1.0 + slope * slope) ** 0.5)
