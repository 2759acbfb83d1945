"""Which values of a threshold a trade-off table shows."""

from __future__ import annotations

import numpy as np

from arena.statistics.intervals import Values

_STEPS = 9


def shown_values(scores: Values, best: float | None, own: float | None) -> list[tuple[float | None, str]]:
    """No threshold, deciles of `scores`, the best one and the run's own, ascending; each with a mark or ''.

    A value of the run's own that no score is below does nothing, and is not shown.
    """
    marks: dict[float, str] = {}
    for value in np.quantile(scores, np.linspace(0.1, 0.9, _STEPS)):
        marks[float(value)] = ""
    if own is not None and own > scores.min():
        marks[own] = "this run's"
    if best is not None:
        marks[best] = "best"
    return [(None, "" if best is not None else "best"), *((value, marks[value]) for value in sorted(marks))]
