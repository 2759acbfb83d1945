"""Curves: one metric of one cell over the values of one numeric factor, all else the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arena.leaderboard.contest import Contender, compare
from arena.leaderboard.metrics import Ids, QuestionResamples
from arena.leaderboard.schema import LEVEL
from arena.statistics.intervals import Values, mean_interval
from arena.statistics.thresholds import elbow
from experiments.sweeping.point import short_values
from experiments.sweeping.row import SweepRow
from experiments.sweeping.values import TOKENS

QUALITY = ("retrieval_recall", "retrieval_precision", "full_recall", "mrr", "answer_f1")
"""Metrics of which a curve is drawn, beside tokens; more of each is better."""

PointValues = Mapping[str, Mapping[tuple[str, str], tuple[Ids, Values]]]
"""Point's name -> what `values.question_values` gives."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The mean at one value of the factor and its 95 % interval, None where they are withheld or not known."""

    value: float
    mean: float
    low: float | None
    high: float | None
    n: int
    point: str
    cell: str


MARGIN = 0.05
"""By how much a value may at most fall short of the best and still be enough."""


@dataclass(frozen=True, slots=True)
class BesideBest:
    """A value of the factor beside the one with the highest mean, `best`.

    `difference`: best less this one, on the questions that both have, with its paired 95 % interval; `p`: adjusted by
    Holm over all pairs of the curve. All None where the two are the same.
    """

    value: float
    best: float
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None

    @property
    def within_margin(self) -> bool:
        """Whether the whole interval says that no more than MARGIN is lost."""
        return self.value == self.best or (self.high is not None and self.high <= MARGIN)


@dataclass(frozen=True, slots=True)
class Curve:
    """A metric of one cell over one factor.

    `others`: the other factors that tell it from its like. `elbow`: a value of the factor, by rule of thumb (None: no
    elbow). `not_shown_worse`: the smallest value that is not significantly worse than the best, which does not show
    that nothing is lost; `enough`: the smallest one that is shown to lose no more than MARGIN. All are None for tokens,
    the last two also where values could not be compared.
    """

    factor: str
    metric: str
    strategy: str
    retrieval_mode: str
    llm: str | None
    place: int
    others: Mapping[str, Any]
    points: tuple[CurvePoint, ...]
    elbow: float | None
    not_shown_worse: BesideBest | None
    enough: BesideBest | None

    @property
    def cell_name(self) -> str:
        """As in `corrective hybrid`; the second of one kind is `corrective hybrid (2)`."""
        return f"{self.strategy} {self.retrieval_mode}" + (f" ({self.place + 1})" if self.place else "")

    @property
    def name(self) -> str:
        """Of its cell, with the values of the other factors."""
        others = ", ".join(f"{name}={value}" for name, value in self.others.items())
        return f"{self.cell_name}, {others}" if others else self.cell_name


def curves_of(rows: Sequence[SweepRow], values: PointValues, resamples: QuestionResamples, seed: int) -> list[Curve]:
    """Every curve of at least two points, factor by factor; of a factor's values the numbers count."""
    factors = list(dict.fromkeys(name for row in rows for name in row.point.values))
    short = short_values([row.point for row in rows])
    curves = []
    for factor in factors:
        groups = _groups(rows, factor)
        firsts = [_others(group[0], factor) for group in groups]
        told_by = {name for one in firsts for name in one if one[name] != firsts[0][name]}
        for group, others in zip(groups, firsts, strict=True):
            told = {name: short[name].get(value, value) for name, value in others.items() if name in told_by}
            for metric in (*QUALITY, TOKENS):
                points = [one for row in group if (one := _point(row, factor, metric, values, resamples)) is not None]
                if len(points) > 1:
                    beside = [] if metric == TOKENS else _beside_best(metric, points, values, resamples, seed)
                    curves.append(_curve(factor, metric, group[0], told, points, beside))
    return curves


def _groups(rows: Sequence[SweepRow], factor: str) -> list[list[SweepRow]]:
    """Rows that differ in nothing but the value of `factor`, by that value; two or more in each."""
    groups: dict[str, list[SweepRow]] = {}
    for row in rows:
        if _is_number(row.point.values[factor]):
            cell = row.cell
            place = [cell.strategy, cell.retrieval_mode, cell.llm, row.place, _others(row, factor)]
            groups.setdefault(json.dumps(place, sort_keys=True), []).append(row)
    return [
        sorted(group, key=lambda row: float(row.point.values[factor])) for group in groups.values() if len(group) > 1
    ]


def _curve(
    factor: str,
    metric: str,
    first: SweepRow,
    told: Mapping[str, Any],
    points: Sequence[CurvePoint],
    beside: Sequence[BesideBest],
) -> Curve:
    bend = None if metric == TOKENS else elbow([one.value for one in points], [one.mean for one in points])
    return Curve(
        factor=factor,
        metric=metric,
        strategy=first.cell.strategy,
        retrieval_mode=first.cell.retrieval_mode,
        llm=first.cell.llm,
        place=first.place,
        others=told,
        points=tuple(points),
        elbow=None if bend is None else points[bend].value,
        not_shown_worse=next((one for one in beside if one.p is None or one.p > LEVEL), None),
        enough=next((one for one in beside if one.within_margin and (one.p is None or one.p > LEVEL)), None),
    )


def _point(
    row: SweepRow, factor: str, metric: str, values: PointValues, resamples: QuestionResamples
) -> CurvePoint | None:
    at, cell = float(row.point.values[factor]), row.cell
    if metric == TOKENS:
        found = values[row.point.name].get((cell.cell, TOKENS))
        return None if found is None or cell.llm is None else _tokens(at, row, found, resamples)
    summary = row.metric(metric)
    if summary is None or summary.mean is None:
        return None
    return CurvePoint(at, summary.mean, summary.ci_low, summary.ci_high, summary.n, row.point.name, cell.cell)


def _tokens(at: float, row: SweepRow, found: tuple[Ids, Values], resamples: QuestionResamples) -> CurvePoint | None:
    """The mean over questions; None where those of any question are unknown, as in the leaderboard."""
    ids, spent = found
    if np.isnan(spent).any():
        return None
    interval = mean_interval(spent, resamples.of(ids).means(spent[:, np.newaxis])[:, 0])
    low, high = (interval.low, interval.high) if interval else (None, None)
    return CurvePoint(at, float(np.mean(spent)), low, high, len(ids), row.point.name, row.cell.cell)


def _beside_best(
    metric: str, points: Sequence[CurvePoint], values: PointValues, resamples: QuestionResamples, seed: int
) -> list[BesideBest]:
    """Every value up to the best one beside it, the smallest first; empty where any could not be compared."""
    contenders = [Contender(one.point, *values[one.point][one.cell, metric]) for one in points]
    compared = {(one.a, one.b): one for one in compare(metric, contenders, resamples, seed).comparisons}
    best = max(points, key=lambda one: (one.mean, -one.value))
    found: list[BesideBest] = []
    for one in points:
        if one is best:
            return [*found, BesideBest(one.value, best.value)]
        # Contenders are in the order of the factor's values, and so is every pair.
        forward = compared.get((best.point, one.point))
        pair = forward or compared[one.point, best.point]
        if pair.difference is None or pair.p_adjusted is None:
            return []
        sign = 1.0 if forward else -1.0
        bounds = sorted(sign * bound for bound in (pair.ci_low, pair.ci_high) if bound is not None)
        low, high = bounds if len(bounds) == 2 else (None, None)
        found.append(BesideBest(one.value, best.value, sign * pair.difference, low, high, pair.p_adjusted))
    return found


def _others(row: SweepRow, factor: str) -> dict[str, Any]:
    return {name: value for name, value in row.point.values.items() if name != factor}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
