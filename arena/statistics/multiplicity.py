"""Many tests at once: what is left of a p-value."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order of `p`.

    Where they are compared with a level, the chance of one false finding or more in the family is at most that level,
    whatever the tests have to do with each other. Holm 1979.
    """
    adjusted = [1.0] * len(p)
    worst = 0.0
    for place, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        worst = max(worst, min(1.0, (len(p) - place) * p[index]))
        adjusted[index] = worst
    return adjusted
