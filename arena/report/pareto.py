"""Which contestants nobody beats at both value and price."""

from __future__ import annotations

from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float | None, float | None]]) -> list[bool]:
    """For each (value, price): is there no other with at least that value at no higher price, one strictly better?

    A point with an unknown value or price is not on the front and beats nobody. Equal points are both on it.
    """
    known = [(value, price) for value, price in points if value is not None and price is not None]
    return [
        value is not None
        and price is not None
        and not any(v >= value and p <= price and (v > value or p < price) for v, p in known)
        for value, price in points
    ]
