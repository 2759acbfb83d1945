"""From values per question to one figure and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

BOOTSTRAP_FLOOR = 20
"""Fewest values a bootstrap can be trusted with: of laws like those of F1, recall and reciprocal rank, a 95 %
percentile bootstrap held the true mean in 65 to 89 % of simulated samples of 10 values, and in 19 to 47 % of 2."""

_BLOCK_CELLS = 1_000_000  # counts held at once: 8 MB


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the bounds of its confidence interval."""

    mean: float
    low: float
    high: float


def mean_interval(
    values: Values, rng: np.random.Generator, *, binary: bool = False, level: float = 0.95
) -> Interval | None:
    """Confidence interval of the mean of `values` (n,); None for n < 2, of which no spread can be seen.

    `binary` values, each 0 or 1: Wilson's. Others: percentile bootstrap, but Wilson's again for fewer than
    BOOTSTRAP_FLOOR values or equal ones, in which a bootstrap would see certainty. That is conservative: of all
    laws on [0, 1] with mean m the binary one has the greatest variance, m (1 - m). Where it is called for and a value
    lies outside [0, 1], no honest interval is known: None.
    """
    if values.size < 2:
        return None
    if not binary and values.size >= BOOTSTRAP_FLOOR and values.min() < values.max():
        return bootstrap_interval(values, rng, level=level)
    return wilson_interval(values, level) if values.min() >= 0.0 and values.max() <= 1.0 else None


def wilson_interval(values: Values, level: float = 0.95) -> Interval | None:
    """Score interval of the mean of `values` (n,), each in [0, 1], as for a proportion; None for n = 0.

    Never without width, and inside [0, 1]. Wilson 1927; recommended for small n by Brown, Cai and DasGupta 2001.

    Raises:
        ValueError: a value is outside [0, 1], or `level` is not inside (0, 1).
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"need 0 < level < 1, not {level!r}")
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError("values must be in [0, 1]; leave undefined scores out")
    n = values.size
    if n == 0:
        return None
    mean = fsum(values) / n
    squared = NormalDist().inv_cdf((1.0 + level) / 2.0) ** 2
    centre = mean + squared / (2 * n)
    half = sqrt(squared * (mean * (1.0 - mean) / n + squared / (4 * n * n)))
    shrink = 1.0 + squared / n
    low, high = (centre - half) / shrink, (centre + half) / shrink
    return Interval(mean, low=min(mean, max(0.0, low)), high=max(mean, min(1.0, high)))


def bootstrap_interval(
    values: Values, rng: np.random.Generator, resamples: int = 2000, level: float = 0.95
) -> Interval | None:
    """Percentile bootstrap of the mean of `values` (n,), None for n = 0. Equal values give no width.

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
    return Interval(mean=fsum(values) / values.size, low=float(low), high=float(high))


def percentile(values: Values, q: float) -> float | None:
    """The q-th percentile of `values` (n,), q in [0, 100]; None for n = 0.

    Linear interpolation between the two nearest order statistics (Hyndman and Fan 1996, type 7).
    """
    return float(np.percentile(values, q)) if values.size else None
