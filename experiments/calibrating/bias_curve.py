"""What each cost bias of a router would have made of its classifier's probabilities. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from arena.statistics.intervals import Interval, Resamples, Values
from strategies.adaptive import LABELS, Label
from strategies.adaptive.graph import preferred

MOST = 100.0
"""The largest bias that the strategy takes."""

_CANDIDATES = 80
_TIE = 1e-12


@dataclass(frozen=True, slots=True)
class BiasCurve:
    """`biases` (m,), 0 first; `labels` (n, m): what each question would be labelled; `silver` (n,)."""

    biases: Values
    labels: tuple[tuple[Label, ...], ...]
    silver: tuple[Label, ...]

    @property
    def right(self) -> NDArray[np.bool_]:
        """(n, m) whether the label is the silver one."""
        return np.array([[one == truth for one in row] for row, truth in zip(self.labels, self.silver, strict=True)])

    def balanced_accuracy(self, resamples: Resamples | None = None) -> Values:
        """(m,), or (B, m) resampled: the mean over the silver labels there are of the share labelled right."""
        right = self.right.astype(np.float64)
        shares = []
        for label in LABELS:
            mine = np.array([one == label for one in self.silver])
            if mine.any():
                values = np.where(mine[:, np.newaxis], right, np.nan)
                shares.append(np.nanmean(values, axis=0) if resamples is None else resamples.means(values))
        return np.asarray(np.mean(shares, axis=0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class BestBias:
    """The bias with the largest balanced accuracy, the smallest of equal ones, and 95 % percentile intervals.

    `gain`: over no bias, less the optimism of choosing and measuring on the same questions.
    """

    bias: float
    low: float
    high: float
    balanced_accuracy: Interval
    gain: Interval


def bias_curve(shares: Sequence[Mapping[str, float]], silver: Sequence[Label]) -> BiasCurve:
    """Over 0 and biases between those at which some question's label changes, at most 80 of them."""
    turns = np.unique([turn for one in shares for turn in _turns(one)])
    if turns.size > _CANDIDATES:
        turns = np.unique(np.quantile(turns, np.linspace(0.0, 1.0, _CANDIDATES)))
    ends = np.append(turns, min(MOST, turns[-1] * 2.0)) if turns.size else turns
    biases = np.concatenate([[0.0], (ends[:-1] + ends[1:]) / 2.0])
    labels = tuple(tuple(preferred(one, float(bias)) for bias in biases) for one in shares)
    return BiasCurve(biases, labels, tuple(silver))


def best_bias(curve: BiasCurve, resamples: Resamples) -> BestBias:
    """Choose, and see in the resamples how sure that is."""
    whole, drawn = curve.balanced_accuracy(), curve.balanced_accuracy(resamples)
    place, places = int(_best(whole)), _best(drawn)
    rows = np.arange(len(places))
    gains, gain = drawn - drawn[:, :1], whole - whole[0]
    optimism = float(np.mean(gains[rows, places] - gain[places]))
    low, high = np.quantile(places, [0.025, 0.975], method="inverted_cdf").astype(int)
    of_accuracy = np.quantile(drawn[:, place], [0.025, 0.975])
    of_gain = np.quantile(gains[:, place], [0.025, 0.975]) - optimism
    return BestBias(
        float(curve.biases[place]),
        float(curve.biases[low]),
        float(curve.biases[high]),
        Interval(float(whole[place]), float(of_accuracy[0]), float(of_accuracy[1])),
        Interval(float(gain[place]) - optimism, float(of_gain[0]), float(of_gain[1])),
    )


def _best(accuracy: Values) -> NDArray[np.intp]:
    best = accuracy.max(axis=-1, keepdims=True)
    return np.asarray((accuracy >= best - _TIE).argmax(axis=-1), dtype=np.intp)


def _turns(shares: Mapping[str, float]) -> list[float]:
    """The biases at which a cheaper label draws level with a dearer one."""
    known = [(cost, log(share)) for cost, label in enumerate(LABELS) if (share := shares.get(label, 0.0)) > 0.0]
    levels = [
        (dear_log - cheap_log) / (dear - cheap)
        for cheap, cheap_log in known
        for dear, dear_log in known
        if dear > cheap
    ]
    return [level for level in levels if 0.0 < level < MOST]
