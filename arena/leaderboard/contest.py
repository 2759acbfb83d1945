"""Every cell against every other on one metric: differences, tests, ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, fsum, sqrt
from statistics import median

import numpy as np

from arena.leaderboard.metrics import Ids, QuestionResamples
from arena.leaderboard.schema import FEW_SHARED, LEVEL, Comparison, Ranks
from arena.statistics.intervals import Interval, Values, difference_interval, has_spread
from arena.statistics.significance import PERMUTATIONS, detectable_difference, holm, paired_permutation, possible_ranks
from arena.types import grouped

_DRAWN_PER_PAIR = 2 / LEVEL
"""Sign assignments per pair of a family, so that the least p there can be, times the pairs, is half the level: with
fewer, none of very many pairs could differ, however far apart."""


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """A cell on one metric: a value per question (n,), NaN = none. `withheld`: why it does not compete."""

    cell: str
    ids: Ids
    values: Values
    withheld: str | None = None


@dataclass(frozen=True, slots=True)
class Contest:
    """What comparing came to. `ranks`: cell key -> ranks, of those that compete, if any two could be compared.

    `detectable`: the median over pairs of the smallest difference that their questions would show; None without a pair
    that differs on enough questions to tell.
    """

    comparisons: tuple[Comparison, ...]
    ranks: dict[str, Ranks]
    detectable: float | None


@dataclass(frozen=True, slots=True)
class _Pair:
    a: ComparedCell
    b: ComparedCell
    ids: Ids
    differences: Values  # (n,), NaN = a question one of them has no value for

    @property
    def known(self) -> Values:
        return self.differences[~np.isnan(self.differences)]


def compare(metric: str, cells: Sequence[ComparedCell], resamples: QuestionResamples, seed: int) -> Contest:
    """Every pair of `cells`, in their order; one family for Holm. Each metric gets the same signs from `seed`."""
    pairs = [_pair(a, b) for a, b in combinations(cells, 2)]
    tested = [pair for pair in pairs if _withheld(pair) is None]
    p = _permutation(tested, seed)
    adjusted = holm(p)  # over the pairs that were tested: one that is withheld can be no false finding
    intervals = _intervals(tested, resamples)
    made = {
        (pair.a.cell, pair.b.cell): _comparison(metric, pair, interval, raw, corrected)
        for pair, interval, raw, corrected in zip(tested, intervals, p, adjusted, strict=True)
    }
    comparisons = tuple(made.get((pair.a.cell, pair.b.cell)) or _comparison(metric, pair) for pair in pairs)
    competing = [one.cell for one in cells if one.withheld is None]
    return Contest(comparisons, _ranks(competing, comparisons), _detectable(tested))


def _pair(a: ComparedCell, b: ComparedCell) -> _Pair:
    if a.ids == b.ids:
        return _Pair(a, b, a.ids, a.values - b.values)
    row_a, row_b = ({one: row for row, one in enumerate(cell.ids)} for cell in (a, b))
    ids = tuple(one for one in a.ids if one in row_b)
    return _Pair(a, b, ids, a.values[[row_a[one] for one in ids]] - b.values[[row_b[one] for one in ids]])


def _withheld(pair: _Pair) -> str | None:
    reasons = [f"{cell.cell}: {cell.withheld}" for cell in (pair.a, pair.b) if cell.withheld is not None]
    if not reasons and pair.known.size < 2:
        return FEW_SHARED
    return "; ".join(reasons) or None


def _permutation(pairs: Sequence[_Pair], seed: int) -> list[float]:
    if not pairs:
        return []
    ids = sorted(set().union(*(pair.ids for pair in pairs)))
    row_of = {one: row for row, one in enumerate(ids)}
    differences = np.full((len(ids), len(pairs)), np.nan)
    for column, pair in enumerate(pairs):
        rows = slice(None) if len(pair.ids) == len(ids) else [row_of[one] for one in pair.ids]
        differences[rows, column] = pair.differences
    drawn = max(PERMUTATIONS, ceil(_DRAWN_PER_PAIR * len(pairs)))
    return [float(one) for one in paired_permutation(differences, np.random.default_rng(seed), drawn)]


def _intervals(pairs: Sequence[_Pair], resamples: QuestionResamples) -> list[Interval | None]:
    """Pairs on the same questions share one multiplication."""
    found: list[Interval | None] = [None] * len(pairs)
    for ids, places in grouped((pair.ids, place) for place, pair in enumerate(pairs)).items():
        means = resamples.of(ids).means(np.column_stack([pairs[place].differences for place in places]))
        for column, place in enumerate(places):
            found[place] = difference_interval(pairs[place].known, means[:, column])
    return found


def _comparison(
    metric: str, pair: _Pair, interval: Interval | None = None, p: float | None = None, adjusted: float | None = None
) -> Comparison:
    return Comparison(
        metric=metric,
        a=pair.a.cell,
        b=pair.b.cell,
        n=pair.known.size,
        difference=interval.mean if interval else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        p=p,
        p_adjusted=adjusted,
        withheld=_withheld(pair),
    )


def _ranks(cells: Sequence[str], comparisons: Sequence[Comparison]) -> dict[str, Ranks]:
    if len(cells) < 2 or all(one.p is None for one in comparisons):
        return {}
    place = {cell: index for index, cell in enumerate(cells)}
    wins = [(place[winner], place[loser]) for winner, loser in _wins(comparisons)]
    return {
        cell: Ranks(best=best, worst=worst, in_top_group=best == 1)
        for cell, (best, worst) in zip(cells, possible_ranks(len(cells), wins), strict=True)
    }


def _wins(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, str]]:
    for one in comparisons:
        if one.significant and one.difference is not None:
            yield (one.a, one.b) if one.difference > 0 else (one.b, one.a)


def _detectable(pairs: Sequence[_Pair]) -> float | None:
    """Of pairs that differ on a few questions only, neither spread nor normal approximation is worth anything."""
    spreads = [(pair.known.size, _sd(pair.known.tolist())) for pair in pairs if has_spread(pair.known)]
    found = [detectable_difference(n, sd, level=LEVEL) for n, sd in spreads]
    return median(found) if found else None


def _sd(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return sqrt(fsum((one - mean) ** 2 for one in values) / (len(values) - 1))
