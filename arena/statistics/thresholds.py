"""Thresholds on scores: what each keeps and refuses, which one to choose, how sure the choice is, and a curve's elbow.

Things with a score are of two populations: `wanted` ones should be kept, which a score at or above the threshold does,
and the others refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.statistics.intervals import Interval, Resamples, Values, blocks, mean_interval, wilson_interval

_TIE = 1e-12  # rates are quotients of counts below 10^6: two that differ, differ by more

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ScoreSample:
    """Things with `scores` (n,), finite. Neither population is empty.

    `wanted` (n,): of which population each is. `questions` (n,): which question of the resamples it belongs to.
    """

    scores: Values
    wanted: NDArray[np.bool_]
    questions: Places

    def __post_init__(self) -> None:
        if not np.isfinite(self.scores).all():
            raise ValueError("scores must be finite")
        if self.wanted.all() or not self.wanted.any():
            raise ValueError("need things of both populations")


@dataclass(frozen=True, slots=True)
class ThresholdCurve:
    """Every threshold that makes a difference, ascending: -inf, which keeps all, and one between any two scores.

    `kept`, `refused`: (..., m) share of the wanted that reach each, and of the others that do not; `auc`: (...) chance
    that a wanted one scores above another, ties counting half. The last axis goes with `thresholds` (m,).
    """

    thresholds: Values
    kept: Values
    refused: Values
    auc: Values

    @property
    def youden(self) -> Values:
        """J = kept + refused - 1, in [-1, 1]; 0 for a threshold that tells nothing apart. Youden 1950."""
        return self.kept + self.refused - 1.0


Criterion = Callable[[ThresholdCurve], Places]
"""Chooses a place of `thresholds` for each curve (...)."""


@dataclass(frozen=True, slots=True)
class ThresholdChoice:
    """The threshold chosen, and 95 % intervals.

    `low`, `high`: of the threshold, chosen anew in each resample. `kept`, `refused`: at the threshold as it is.
    `youden`: J less its optimism, which is what choosing and measuring on the same questions adds to it.
    """

    threshold: float
    low: float
    high: float
    kept: Interval
    refused: Interval
    youden: Interval


def largest_youden(curve: ThresholdCurve) -> Places:
    """The largest J; of equal ones the lowest threshold, which keeps more."""
    best = curve.youden.max(axis=-1, keepdims=True)
    return np.asarray((curve.youden >= best - _TIE).argmax(axis=-1), dtype=np.intp)


def keeps_at_least(share: float) -> Criterion:
    """The highest threshold that keeps at least this share of the wanted."""

    def choose(curve: ThresholdCurve) -> Places:
        keeping = curve.kept >= share - _TIE
        return np.asarray(curve.kept.shape[-1] - 1 - keeping[..., ::-1].argmax(axis=-1), dtype=np.intp)

    return choose


def refuses_at_least(share: float) -> Criterion:
    """The lowest threshold that refuses at least this share of the others; the highest there is where none does."""

    def choose(curve: ThresholdCurve) -> Places:
        refusing = curve.refused >= share - _TIE
        last = np.intp(curve.refused.shape[-1] - 1)
        return np.asarray(np.where(refusing.any(axis=-1), refusing.argmax(axis=-1), last), dtype=np.intp)

    return choose


def trade_off(scored: ScoreSample, resamples: Resamples | None = None) -> ThresholdCurve:
    """The curve of the things as they are; with `resamples`, one a resample (B, m).

    A resample without one of the populations has the rates of the things as they are.
    """
    order = np.argsort(scored.scores, kind="stable")
    ranked, wanted = scored.scores[order], scored.wanted[order]
    starts = np.flatnonzero(np.diff(ranked, prepend=-np.inf) > 0.0)
    thresholds = _between(ranked[starts])
    whole = _rates(np.ones((1, ranked.size)), wanted, starts)
    if resamples is None:
        return ThresholdCurve(thresholds, *(one[0] for one in whole))
    of_questions = scored.questions[order]
    parts = []
    for block in blocks(len(resamples.counts), ranked.size):
        weights = resamples.counts[block].astype(np.float64)[:, of_questions]
        drawn = _rates(weights, wanted, starts)
        parts.append([np.where(np.isnan(one), usual, one) for one, usual in zip(drawn, whole, strict=True)])
    kept, refused, auc = (np.concatenate(column) for column in zip(*parts, strict=True))
    return ThresholdCurve(thresholds, kept, refused, auc)


def choose(scored: ScoreSample, criterion: Criterion, resamples: Resamples) -> ThresholdChoice:
    """Choose a threshold by `criterion`. Optimism: Efron and Tibshirani 1993, chapter 17; interval: Noma et al. 2021.

    Rates are Wilson's where no question has two things of a population, else `mean_interval`'s.
    """
    whole, drawn = trade_off(scored), trade_off(scored, resamples)
    place, places = int(criterion(whole)), criterion(drawn)
    low, high = np.quantile(places, [0.025, 0.975], method="inverted_cdf").astype(int)
    rows = np.arange(len(places))
    optimism = float(np.mean(drawn.youden[rows, places] - whole.youden[places]))
    spread = np.quantile(drawn.youden[:, place], [0.025, 0.975]) - optimism
    return ThresholdChoice(
        threshold=float(whole.thresholds[place]),
        low=float(whole.thresholds[low]),
        high=float(whole.thresholds[high]),
        kept=_rate(scored, whole.thresholds[place], drawn.kept[:, place], wanted=True),
        refused=_rate(scored, whole.thresholds[place], drawn.refused[:, place], wanted=False),
        youden=Interval(float(whole.youden[place]) - optimism, float(spread[0]), float(spread[1])),
    )


def auc_interval(scored: ScoreSample, resamples: Resamples) -> Interval:
    """The area under the curve of kept against not refused, in [0, 1], and percentiles of its resamples.

    0.5 = the scores say nothing. Hanley and McNeil 1982.
    """
    low, high = np.quantile(trade_off(scored, resamples).auc, [0.025, 0.975])
    return Interval(float(trade_off(scored).auc), float(low), float(high))


def _between(distinct: Values) -> Values:
    """-inf, and a number above each score (m,) that is not above the next."""
    middles = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2.0
    apart = np.where(middles > distinct[:-1], middles, distinct[1:])
    return np.concatenate([[-np.inf], apart])


def _rates(weights: Values, wanted: NDArray[np.bool_], starts: Places) -> tuple[Values, Values, Values]:
    """The kept (B, m), refused (B, m) and auc (B,) of ranked things under `weights` (B, n); NaN without a population.

    `starts` (m,): the first place of each distinct score.
    """
    good = np.add.reduceat(np.where(wanted, weights, 0.0), starts, axis=1)
    bad = np.add.reduceat(np.where(wanted, 0.0, weights), starts, axis=1)
    goods, bads = good.sum(axis=1, keepdims=True), bad.sum(axis=1, keepdims=True)
    below_good, below_bad = good.cumsum(axis=1) - good, bad.cumsum(axis=1) - bad
    with np.errstate(invalid="ignore", divide="ignore"):
        auc = (good * (below_bad + bad / 2.0)).sum(axis=1) / (goods * bads)[:, 0]
        return 1.0 - below_good / goods, below_bad / bads, auc


def _rate(scored: ScoreSample, threshold: float, resampled: Values, *, wanted: bool) -> Interval:
    mine = scored.wanted == wanted
    hits: NDArray[Any] = (scored.scores[mine] >= threshold) == wanted
    values = hits.astype(np.float64)
    alone = len(np.unique(scored.questions[mine])) == values.size
    found = wilson_interval(values) if alone else mean_interval(values, resampled)
    assert found is not None  # neither population is empty, and a question with two things makes two
    return found


_STRAIGHT = 1e-9
"""Distance, on axes from 0 to 1, that is left on a straight line by rounding."""


def elbow(xs: Sequence[float], ys: Sequence[float]) -> int | None:
    """The place of the elbow: the point of largest distance from the chord of the normalised curve.

    Both axes are scaled to [0, 1] by their smallest and largest value; the chord joins the first point to the last.
    Only points on the side where the curve has come further in y than in x count: an elbow is where most of the change
    is had and the rest comes slowly. The first of equals counts. None for fewer than 3 points, for a curve that ends
    where it began, for a straight one, and for one that gets ever steeper. Satopaa et al. 2011, "Finding a 'Kneedle' in
    a Haystack", offline, without its smoothing, which a handful of points does not bear. It is a rule of thumb: it
    knows nothing of chance, and moves with the range of `xs`.

    Raises:
        ValueError: `xs` and `ys` differ in length, or `xs` do not increase.
    """
    if len(xs) != len(ys):
        raise ValueError(f"{len(xs)} xs and {len(ys)} ys")
    if any(later <= before for before, later in pairwise(xs)):
        raise ValueError("xs must increase")
    if len(xs) < 3 or ys[0] == ys[-1]:
        return None
    distances = [
        _distance(x, y, (xs[0], ys[0]), (xs[-1], ys[-1]), max(ys) - min(ys)) for x, y in zip(xs, ys, strict=True)
    ]
    furthest = max(distances)
    return distances.index(furthest) if furthest > _STRAIGHT else None


def _distance(x: float, y: float, first: tuple[float, float], last: tuple[float, float], height: float) -> float:
    """From the chord, on normalised axes; above 0 where the curve has come further in y than in x."""
    across, up = (x - first[0]) / (last[0] - first[0]), (y - first[1]) / height
    slope = (last[1] - first[1]) / height
    towards = 1.0 if slope > 0 else -1.0
    return float(towards * (up - slope * across) / (1.0 + slope * slope) ** 0.5)
