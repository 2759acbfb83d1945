"""The scores of one metric in two cells, question by question, turned so that more is better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum
from typing import NamedTuple

import numpy as np

from arena.leaderboard.metrics import ScoreColumns
from arena.metrics import METRICS, is_undefined
from arena.metrics.case import FAILED
from arena.statistics.intervals import Values
from arena.types import Partial, Score

_ANYTHING = Partial(known=0.0, low=0.0, high=1.0)


class Reading(NamedTuple):
    """What is known of one score, more being better. `value` None: not known; then it is between `low` and `high`.

    A `failed` question has the value 0: whoever asked it got nothing.
    """

    value: float | None
    low: float
    high: float
    failed: bool = False


@dataclass(frozen=True, slots=True)
class PairedScores:
    """Questions that have a score in both cells, or should: (n,) each, in the order of their ids.

    `new`, `old`: NaN where not known. `worst`: new - old with what is not known, and what failed in the old alone,
    counted against the new. `left_out`: questions that have a score, or should, in one of the two only.
    """

    ids: tuple[str, ...]
    new: Values
    old: Values
    worst: Values
    left_out: int

    @property
    def differences(self) -> Values:
        """(n,) new - old; NaN where either is not known."""
        return self.new - self.old


def readings_of(scores: ScoreColumns, metric: str) -> dict[str, Reading]:
    """Question id -> what is known of its score, where it has one or should."""
    turned = is_fault(metric)
    return {
        question_id: _reading(score, less_is_better=turned)
        for question_id, score in zip(scores.ids, scores.scores.get(metric, ()), strict=False)
        if score is not None and not is_undefined(score.reason)
    }


def coverage_of(scores: ScoreColumns, metric: str, *, failures: bool = True) -> float | None:
    """What is known over what should be, as on the leaderboard; None: nothing should be.

    A failed question is not known; with `failures` False, such questions are left out.
    """
    column = (one for one in scores.scores.get(metric, ()) if one is not None and not is_undefined(one.reason))
    due = [one for one in column if failures or one.reason != FAILED]
    known = (1.0 if one.value is not None else one.partial.known if one.partial else 0.0 for one in due)
    return fsum(known) / len(due) if due else None


def pair_scores(new: dict[str, Reading], old: dict[str, Reading]) -> PairedScores:
    """Put the readings of one metric in two cells beside each other."""
    ids = tuple(sorted(new.keys() & old.keys()))
    pairs = [(new[one], old[one]) for one in ids]
    return PairedScores(
        ids,
        _values(one for one, _ in pairs),
        _values(one for _, one in pairs),
        np.array([_worst(one, other) for one, other in pairs], dtype=np.float64),
        left_out=len(new.keys() ^ old.keys()),
    )


def is_fault(metric: str) -> bool:
    """Whether less of it is better."""
    return metric in METRICS and not METRICS[metric].higher_is_better


def _reading(score: Score, *, less_is_better: bool) -> Reading:
    if score.value is not None:
        value = 1.0 - score.value if less_is_better else score.value
        return Reading(value, value, value)
    if score.reason == FAILED:
        return Reading(0.0, 0.0, 0.0, failed=True)
    part = score.partial or _ANYTHING
    return Reading(None, 1.0 - part.high, 1.0 - part.low) if less_is_better else Reading(None, part.low, part.high)


def _worst(new: Reading, old: Reading) -> float:
    if old.failed:
        return 0.0 if new.failed else new.low - 1.0
    return new.low - old.high


def _values(readings: Iterable[Reading]) -> Values:
    return np.array([np.nan if one.value is None else one.value for one in readings], dtype=np.float64)
