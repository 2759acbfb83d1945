"""Is a new version worse than the old one by more than a margin? Of paired questions; a change for the worse is < 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from arena.statistics.intervals import (
    BOOTSTRAP_FLOOR,
    Resamples,
    Values,
    has_spread,
    percentile,
    percentile_interval,
    wilson_interval,
)
from arena.statistics.significance import PERMUTATIONS, holm, paired_permutation

Outcome = Literal["pass", "fail", "inconclusive"]

_TIE = 1e-9
"""What a sum of decimal fractions may miss a margin by that it meets on paper."""


@dataclass(frozen=True, slots=True)
class Change:
    """What paired questions say of a change, < 0 for the worse.

    Args:
        n: pairs.
        differing: pairs that are not equal.
        estimate: a difference of means, or 1 less the ratio of what was spent.
        low: one-sided lower confidence bound of the change; None where no honest one is known.
        error: standard error of `estimate`; where few pairs differ, one that is not too small, or None.
        identical: nothing is known to have changed, and nothing is unknown.
    """

    n: int
    differing: int
    estimate: float
    low: float | None
    error: float | None
    identical: bool


def mean_change(differences: Values, worst: Values, resamples: Resamples, level: float) -> Change | None:
    """The change of a mean of scores in [0, 1]; None for fewer than 2 differences.

    Args:
        differences: (n,) new - old, each in [-1, 1].
        worst: (m,) the same with all that is not known counted against the new; the bound is made of these.
        resamples: of the m questions.
        level: the bound fails to lie below the true change with at most this probability.
    """
    if differences.size < 2 or worst.size < 2:
        return None
    return Change(
        n=differences.size,
        differing=int(np.count_nonzero(differences)),
        estimate=fsum(differences) / differences.size,
        low=_lower_bound(worst, resamples, level),
        error=_error(differences, level),
        identical=not worst.any() and not differences.any(),
    )


def ratio_change(new: Values, old: Values, resamples: Resamples, margin: float, level: float) -> Change | None:
    """1 - sum(`new`) / sum(`old`), of what n questions took (n,); None for n < 2, or where `old` is 0 throughout.

    The bound is a percentile of the ratio over `resamples` of the n questions, where `old` (1 + `margin`) - `new` has a
    spread: it is the mean of that which the margin bounds.
    """
    total = fsum(old)
    if new.size < 2 or total <= 0.0:
        return None
    differing = int(np.count_nonzero(new != old))
    ratios = None
    if differing and new.size >= BOOTSTRAP_FLOOR and has_spread((1.0 + margin) * old - new):
        ratios = resamples.ratios(new[:, np.newaxis], old[:, np.newaxis])[:, 0]
    return Change(
        n=new.size,
        differing=differing,
        estimate=1.0 - fsum(new) / total,
        low=None if ratios is None else 1.0 - float(np.quantile(ratios, 1.0 - level)),
        error=None if ratios is None else float(np.std(ratios)),
        identical=not differing,
    )


def quantile_change(
    new: Values, old: Values, resamples: Resamples, q: float, level: float
) -> tuple[Change, float] | None:
    """1 - the q-th percentile of `new` (n,) over that of `old` (n,), and the one-sided p of "not worse".

    p: the share of resamples in which the ratio is at most 1. None for n < BOOTSTRAP_FLOOR, or where `old` gives 0.
    """
    above, below = percentile(new, q), percentile(old, q)
    if new.size < BOOTSTRAP_FLOOR or above is None or not below:
        return None
    tops, bottoms = _resampled_quantile(new, resamples, q), _resampled_quantile(old, resamples, q)
    ratios = tops[bottoms > 0.0] / bottoms[bottoms > 0.0]
    if ratios.size == 0:
        return None
    differing = int(np.count_nonzero(new != old))
    change = Change(
        n=new.size,
        differing=differing,
        estimate=1.0 - above / below,
        low=1.0 - float(np.quantile(ratios, 1.0 - level)) if differing else None,
        error=float(np.std(ratios)) if differing else None,
        identical=not differing,
    )
    return change, (1 + int(np.count_nonzero(ratios <= 1.0))) / (1 + ratios.size)


def no_worse_p(differences: Values, rng: np.random.Generator, level: float) -> list[float]:
    """One-sided p of "not worse" of each column of `differences` (n, m), NaN = no pair.

    Paired permutation test (see `permutation`): half of its two-sided p, since sign assignments come in mirrored pairs;
    1 where the sum is not below 0, or there is no pair. As many assignments as Holm's method over m columns asks for.
    """
    if not differences.size:
        return [1.0] * differences.shape[1]
    drawn = max(PERMUTATIONS, int(np.ceil(2.0 * differences.shape[1] / level)))
    p = paired_permutation(differences, rng, drawn)
    worse = np.nansum(differences, axis=0) < 0.0
    return [float(one) / 2.0 if is_worse and not np.isnan(one) else 1.0 for one, is_worse in zip(p, worse, strict=True)]


def least_p(differing: int) -> float:
    """The least one-sided p that a permutation test of so many pairs other than 0 can have: all for the worse."""
    return 2.0**-differing


def family_wise(p: Sequence[float], least: Sequence[float], level: float) -> list[float]:
    """Holm's adjusted p-values over the tests that could reach `level`; 1 for all others.

    `least`: the least p that each could have had, which the sizes of its differences decide; their signs are what
    chance decides. A test that cannot be significant can be no false alarm, and does not make the others weaker.
    Tarone 1990, Biometrics 46.
    """
    size = next(k for k in range(1, len(p) + 2) if sum(one <= level / k for one in least) <= k)
    counted = [place for place, one in enumerate(least) if one <= level / size]
    adjusted = [1.0] * len(p)
    for place, one in zip(counted, holm([p[place] for place in counted]), strict=True):
        adjusted[place] = one
    return adjusted


def decide(change: Change, margin: float, p: float, level: float) -> Outcome:
    """What may be said of a change, given the largest that does not matter.

    `fail`: it is for the worse by `margin` or more, and by more than chance (`p` <= `level`, `p` adjusted). `pass`:
    one that large is ruled out, by the lower bound or because nothing differs. Neither, and both never: the bound
    lies below the estimate.
    """
    if change.estimate <= -margin + _TIE and p <= level:
        return "fail"
    if change.identical or (change.low is not None and change.low > -margin and change.estimate > -margin + _TIE):
        return "pass"
    return "inconclusive"


def smallest_caught(error: float, margin: float, level: float, power: float = 0.8) -> float:
    """The true change for the worse that `decide` calls a failure with probability `power`. Normal approximation.

    It must look as large as `margin` and, with a standard error of `error`, be more than chance at `level`, one-sided.

    Raises:
        ValueError: `power` or `level` is not inside (0, 1).
    """
    if not (0.0 < power < 1.0 and 0.0 < level < 1.0):
        raise ValueError(f"need power and level inside (0, 1), not {power!r} and {level!r}")
    normal = NormalDist()
    return max(margin, normal.inv_cdf(1.0 - level) * error) + normal.inv_cdf(power) * error


def _lower_bound(differences: Values, resamples: Resamples, level: float) -> float:
    """Of the mean: a percentile of the bootstrap; where that is not trusted, losses alone at their Wilson bound.

    A gain is no less than 0, so that leaving gains out makes the bound lower, and no less sure.
    """
    if differences.size >= BOOTSTRAP_FLOOR and has_spread(differences):
        resampled = resamples.means(differences[:, np.newaxis])[:, 0]
        return percentile_interval(differences, resampled, 1.0 - 2.0 * level).low
    losses = wilson_interval(np.maximum(-differences, 0.0), 1.0 - 2.0 * level)
    return -losses.high if losses else 0.0


def _error(differences: Values, level: float) -> float:
    """Of the mean. Of few that differ, the square at its upper Wilson bound stands in for a variance seen too small."""
    n = differences.size
    if has_spread(differences):
        return float(np.std(differences, ddof=1)) / sqrt(n)
    squares = wilson_interval(np.square(differences), 1.0 - 2.0 * level)
    return sqrt(squares.high / n) if squares else 0.0


def _resampled_quantile(values: Values, resamples: Resamples, q: float) -> Values:
    """(B,) the smallest value that at least q % of each resample do not exceed."""
    order: NDArray[np.intp] = np.argsort(values, kind="stable")
    drawn = np.cumsum(resamples.counts[:, order], axis=1, dtype=np.int64)
    place = np.argmax(drawn >= np.ceil(q / 100.0 * drawn[:, -1:]), axis=1)
    return np.asarray(values[order][place], dtype=np.float64)
