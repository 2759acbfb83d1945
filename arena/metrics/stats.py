"""From values per question to one figure and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_BLOCK_CELLS = 1_000_000  # counts held at once: 8 MB


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the bounds of its confidence interval."""

    mean: float
    low: float
    high: float


def bootstrap_interval(
    values: Values, rng: np.random.Generator, resamples: int = 2000, level: float = 0.95
) -> Interval | None:
    """Percentile bootstrap of the mean of `values` (n,), None for n = 0, no width for n = 1.

    A resample matters only through how often it holds each distinct value, so those counts are drawn from
    their multinomial law: the same distribution as drawing n values with replacement, independent of the
    order of `values`, and fast where values repeat, as scores do. Efron and Tibshirani 1993, chapter 13.

    Raises:
        ValueError: a value is not finite, `level` is not inside (0, 1) or `resamples` is below 1.
    """
    if not 0.0 < level < 1.0 or resamples < 1:
        raise ValueError(f"need 0 < level < 1 and resamples >= 1, not level {level!r} and resamples {resamples!r}")
    if not np.isfinite(values).all():
        raise ValueError("values must be finite; leave undefined scores out")
    if values.size == 0:
        return None
    distinct, counts = np.unique(values, return_counts=True)
    shares = counts / values.size
    means = np.empty(resamples, dtype=np.float64)
    block = max(1, _BLOCK_CELLS // distinct.size)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        means[start : start + size] = rng.multinomial(values.size, shares, size=size) @ distinct / values.size
    low, high = np.quantile(means, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(mean=float(counts @ distinct / values.size), low=float(low), high=float(high))


def percentile(values: Values, q: float) -> float | None:
    """The q-th percentile of `values` (n,), q in [0, 100]; None for n = 0.

    Linear interpolation between the two nearest order statistics (Hyndman and Fan 1996, type 7).
    """
    return float(np.percentile(values, q)) if values.size else None
