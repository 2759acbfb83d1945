"""Bootstrap resamples of questions: drawn once, and then applied to every metric, difference and ratio alike."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.statistics.intervals import Values

RESAMPLES = 2000
STRATUM_FLOOR = 10
"""Strata with fewer questions are pooled: inside a stratum of n a bootstrap sees (n - 1) / n of the variance."""

_BLOCK_CELLS = 2_000_000  # draws held at once: 16 MB


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
        block = max(1, _BLOCK_CELLS // max(1, len(totals)))
        with np.errstate(invalid="ignore", divide="ignore"):
            whole = fixed.sum(axis=0) / sizes.sum(axis=0)
            for start in range(0, len(self.counts), block):
                counts = self.counts[start : start + block].astype(np.float64)
                drawn = (counts @ distinct)[:, place]
                found[start : start + block] = np.where(drawn > 0.0, (counts @ fixed) / drawn, whole)
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
    block = max(1, _BLOCK_CELLS // n)
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        drawn = rng.integers(0, n, size=(size, n)) + np.arange(size)[:, np.newaxis] * n
        counts[start : start + size] = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
    return counts


def _groups(strata: Sequence[Hashable]) -> list[NDArray[np.intp]]:
    """Rows of each stratum, smallest first; those under the floor in one, with the next one where still too few."""
    rows_of: dict[Hashable, list[int]] = {}
    for row, stratum in enumerate(strata):
        rows_of.setdefault(stratum, []).append(row)
    groups = sorted(rows_of.values(), key=len)
    pooled: list[int] = []
    while groups and (len(groups[0]) < STRATUM_FLOOR or 0 < len(pooled) < STRATUM_FLOOR):
        pooled += groups.pop(0)
    return [np.array(rows, dtype=np.intp) for rows in ([sorted(pooled)] if pooled else []) + groups]
