"""Percentiles of how long calls take, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

Figures = dict[str, float | int | str | None]
WARM_UP = 3


def timings_ms(ask: Callable[[int], object], n: int, name: str) -> Figures:
    """`NAME_p50_ms` and `NAME_p95_ms` of `ask(0)` to `ask(n - 1)`, after a few that do not count; None if n is 0."""
    for i in range(min(WARM_UP, n)):
        ask(i)
    taken = []
    for i in range(n):
        started = perf_counter()
        ask(i)
        taken.append(1e3 * (perf_counter() - started))
    p50, p95 = np.percentile(taken, [50, 95]).tolist() if taken else (None, None)
    return {f"{name}_p50_ms": p50, f"{name}_p95_ms": p95}
