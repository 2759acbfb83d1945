"""Confidence intervals from values per question, by the bootstrap, and agreement between raters beyond chance.

Questions are resampled once, and the same resamples serve every metric, difference and ratio, so that paired figures
stay paired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.types import grouped

Values = NDArray[np.float64]

BOOTSTRAP_FLOOR = 20
"""Fewest values a bootstrap can be trusted with: of laws like those of F1, recall and reciprocal rank, a 95 %
percentile bootstrap held the true mean in 65 to 89 % of simulated samples of 10 values, and in 19 to 47 % of 2."""

SPREAD_FLOOR = 8
"""Fewest values other than the commonest one that a bootstrap can be trusted with: where 1 to 10 % of 25 to 500 values
were not 0, it held the true mean in 83 to 95 % of simulated samples, and the rule with this floor in 94 to 100 %."""

_NO_SPREAD = 1e-12  # what is left between resampled means of equal values by the order of additions


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the bounds of its confidence interval."""

    mean: float
    low: float
    high: float


def mean_interval(values: Values, resampled: Values, *, binary: bool = False, level: float = 0.95) -> Interval | None:
    """Confidence interval of the mean of `values` (n,); None for n < 2, of which no spread can be seen.

    `resampled` (B,): the mean of each bootstrap resample (`Resamples.means`). `binary` values, each 0 or 1: Wilson's.
    Others: the percentiles of `resampled`, but Wilson's again where a bootstrap would see certainty or too little of
    the spread: for fewer than BOOTSTRAP_FLOOR values, for fewer than SPREAD_FLOOR that are not the commonest one, and
    without spread between resamples. That is conservative: of all laws on [0, 1] with mean m the binary one has the
    greatest variance, m (1 - m). Where it is called for and a value lies outside [0, 1], no honest interval is known:
    None.
    """
    if values.size < 2:
        return None
    if not binary and _trusted(values, resampled):
        return percentile_interval(values, resampled, level)
    return wilson_interval(values, level) if values.min() >= 0.0 and values.max() <= 1.0 else None


def difference_interval(differences: Values, resampled: Values, level: float = 0.95) -> Interval | None:
    """Confidence interval of the mean of paired `differences` (n,), each in [-1, 1]; None for n < 2.

    Percentiles of the `resampled` means (B,), but where a bootstrap is not trusted with a mean: the mean is that of
    max(d, 0) less that of max(-d, 0), and the bounds are those of their Wilson intervals at worst, each at a level of
    (1 + `level`) / 2. Conservative, as for a mean.

    Raises:
        ValueError: a difference that Wilson's interval is needed for is outside [-1, 1].
    """
    if differences.size < 2:
        return None
    if _trusted(differences, resampled):
        return percentile_interval(differences, resampled, level)
    _require_level(level)
    gains, losses = (wilson_interval(np.maximum(one, 0.0), (1.0 + level) / 2.0) for one in (differences, -differences))
    if gains is None or losses is None:
        return None
    return Interval(fsum(differences) / differences.size, gains.low - losses.high, gains.high - losses.low)


def percentile_interval(values: Values, resampled: Values, level: float = 0.95) -> Interval:
    """The mean of `values` (n,), n > 0, between percentiles of `resampled` (B,). Efron and Tibshirani 1993, ch. 13.

    Raises:
        ValueError: `level` is not inside (0, 1).
    """
    _require_level(level)
    low, high = np.quantile(resampled, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(fsum(values) / values.size, low=float(low), high=float(high))


def wilson_interval(values: Values, level: float = 0.95) -> Interval | None:
    """Score interval of the mean of `values` (n,), each in [0, 1], as for a proportion; None for n = 0.

    Never without width, and inside [0, 1]. Wilson 1927; recommended for small n by Brown, Cai and DasGupta 2001.

    Raises:
        ValueError: a value is outside [0, 1], or `level` is not inside (0, 1).
    """
    _require_level(level)
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


def percentile(values: Values, q: float) -> float | None:
    """The q-th percentile of `values` (n,), q in [0, 100]; None for n = 0.

    Linear interpolation between the two nearest order statistics (Hyndman and Fan 1996, type 7).
    """
    return float(np.percentile(values, q)) if values.size else None


def has_spread(values: Values) -> bool:
    """Whether at least SPREAD_FLOOR of `values` (n,) are not the commonest one."""
    _, counts = np.unique(values, return_counts=True)
    return bool(values.size) and values.size - int(counts.max()) >= SPREAD_FLOOR


def _trusted(values: Values, resampled: Values) -> bool:
    return values.size >= BOOTSTRAP_FLOOR and has_spread(values) and float(np.ptp(resampled)) > _NO_SPREAD


def _require_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"need 0 < level < 1, not {level!r}")


RESAMPLES = 2000
STRATUM_FLOOR = 10
"""Strata with fewer questions are pooled: inside a stratum of n a bootstrap sees (n - 1) / n of the variance."""

_BLOCK_CELLS = 2_000_000  # numbers held at once: 16 MB


def blocks(rows: int, width: int) -> Iterator[slice]:
    """Slices that together cover `rows` rows of `width` numbers, in order, each of as many as are held at once."""
    size = max(1, _BLOCK_CELLS // max(1, width))
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


@dataclass(frozen=True, slots=True)
class Resamples:
    """`counts` (B, n): how often each of n questions is in each of B resamples.

    A question is the cluster: it is drawn with all that belongs to it, with every cell's score and every metric, so
    that what is computed from the same resamples is paired.
    """

    counts: NDArray[np.uint16]

    def means(self, values: Values) -> Values:
        """(B, m) resampled means of the columns of `values` (n, m), NaN = missing."""
        known = ~np.isnan(values)
        return self.ratios(np.where(known, values, 0.0), known.astype(np.float64))

    def ratios(self, totals: Values, sizes: Values) -> Values:
        """(B, m) resampled sums of `totals` (n, m) over those of `sizes` (n, m).

        `totals[i, j]` adds up `sizes[i, j]` values of question i. Where a resample holds none, the ratio of the sample.
        """
        fixed, digits = _fixed_point(totals)
        distinct, place = _distinct_columns(sizes)  # few: most metrics are missing on the same questions
        found = np.empty((len(self.counts), totals.shape[1]), dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            whole = fixed.sum(axis=0) / sizes.sum(axis=0)
            for block in blocks(len(self.counts), len(totals)):
                counts = self.counts[block].astype(np.float64)
                drawn = (counts @ distinct)[:, place]
                found[block] = np.where(drawn > 0.0, (counts @ fixed) / drawn, whole)
        return np.ldexp(found, -digits)


def draw_resamples(strata: Sequence[Hashable], rng: np.random.Generator, resamples: int = RESAMPLES) -> Resamples:
    """Draw questions with replacement, as many of each stratum as it has. `strata`: one label per question.

    The same questions in the same order give the same resamples. Davison and Hinkley 1997, chapter 3.

    Raises:
        ValueError: `resamples` is below 1.
    """
    if resamples < 1:
        raise ValueError(f"need resamples >= 1, not {resamples!r}")
    counts = np.zeros((resamples, len(strata)), dtype=np.uint16)
    for rows in _groups(strata):
        counts[:, rows] = _draw(len(rows), rng, resamples)
    return Resamples(counts)


def _fixed_point(totals: Values) -> tuple[Values, NDArray[np.intc]]:
    """`totals` (n, m) as whole multiples of 2^-digits (m,), the finest of which every resampled sum is exact.

    Exact sums are the same in any order, and so on any machine with any number of threads. The rounding (below 1e-12
    for thousands of scores in [0, 1]) is far below what the resampling itself leaves open.
    """
    largest = np.abs(totals).max(axis=0, initial=0.0) * len(totals)
    digits = (52 - np.frexp(largest)[1]).astype(np.intc)
    return np.rint(np.ldexp(totals, digits)), digits


def _distinct_columns(table: Values) -> tuple[Values, NDArray[np.intp]]:
    """The distinct columns of `table` (n, m), and for each of its columns which of them it equals (m,)."""
    first: dict[bytes, int] = {}
    place = [first.setdefault(column.tobytes(), len(first)) for column in table.T]
    chosen = [place.index(one) for one in range(len(first))]
    return table[:, chosen], np.array(place, dtype=np.intp)


def _draw(n: int, rng: np.random.Generator, resamples: int) -> NDArray[np.uint16]:
    counts = np.empty((resamples, n), dtype=np.uint16)
    for block in blocks(resamples, n):
        size = block.stop - block.start
        drawn = rng.integers(0, n, size=(size, n)) + np.arange(size)[:, np.newaxis] * n
        counts[block] = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
    return counts


def _groups(strata: Sequence[Hashable]) -> list[NDArray[np.intp]]:
    """Rows of each stratum, smallest first; those under the floor in one, with the next one where still too few."""
    groups = sorted(grouped((stratum, row) for row, stratum in enumerate(strata)).values(), key=len)
    pooled: list[int] = []
    while groups and (len(groups[0]) < STRATUM_FLOOR or 0 < len(pooled) < STRATUM_FLOOR):
        pooled += groups.pop(0)
    return [np.array(rows, dtype=np.intp) for rows in ([sorted(pooled)] if pooled else []) + groups]


def cohens_kappa(a: Sequence[bool], b: Sequence[bool]) -> float | None:
    """Cohen's kappa of two raters on the same things, in [-1, 1]: 1 = always agree, 0 = as often as chance would.

    None for n = 0, and where both raters give one and the same answer throughout: chance alone would then agree
    everywhere, and nothing can be said beyond it. Cohen 1960.

    Raises:
        ValueError: `a` and `b` are not of one length.
    """
    n = len(a)
    if n != len(b):
        raise ValueError(f"need two ratings of each thing, not {n} and {len(b)}")
    if n == 0:
        return None
    agreed = sum(bool(one) == bool(other) for one, other in zip(a, b, strict=True))
    yes_a, yes_b = sum(map(bool, a)), sum(map(bool, b))
    by_chance = yes_a * yes_b + (n - yes_a) * (n - yes_b)
    if by_chance == n * n:
        return None
    return (n * agreed - by_chance) / (n * n - by_chance)


def krippendorffs_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Krippendorff's alpha for nominal values, at most 1: 1 = always agree, 0 = as often as chance would.

    `units`: of each thing that was rated the values that it got, in any order, by any number of raters. A thing with
    fewer than two values says nothing and is left out. None where nothing is left, and where all values are one and
    the same: chance alone would then agree everywhere. Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".
    """
    paired = [Counter(unit) for unit in units if len(unit) > 1]
    totals = sum(paired, Counter[Hashable]())
    n = totals.total()
    by_chance = n * n - sum(count * count for count in totals.values())
    if by_chance == 0:
        return None
    observed = sum(
        (unit.total() ** 2 - sum(count * count for count in unit.values())) / (unit.total() - 1) for unit in paired
    )
    return 1.0 - (n - 1) * observed / by_chance
