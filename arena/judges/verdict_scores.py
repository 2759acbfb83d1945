"""Repeated verdicts on one record by one metric, as its score."""

from __future__ import annotations

from collections.abc import Sequence

from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED
from arena.types import Partial, Score, Verdict

NOTHING_KNOWN = Partial(known=0.0, low=0.0, high=1.0)


def score_of(verdicts: Sequence[Verdict]) -> Score:
    """The mean of `verdicts`, which are one judge's on one record by one metric; at least one.

    Where any lacks its value the score has none, and `partial` says what the others leave open.
    """
    scores = [one.score for one in verdicts]
    metric = scores[0].metric
    values = [score.value for score in scores if score.value is not None]
    if len(values) == len(scores):
        return Score(metric, sum(values) / len(values))
    if len(scores) == 1:
        return scores[0]
    known = [_known(score) for score in scores]
    partial = Partial(
        known=sum(one.known for one in known) / len(known),
        low=sum(one.low for one in known) / len(known),
        high=sum(one.high for one in known) / len(known),
    )
    return Score(metric, None, PARTLY_JUDGED if partial.known > 0 else JUDGE_FAILED, partial)


def _known(score: Score) -> Partial:
    if score.value is not None:
        return Partial(1.0, score.value, score.value)
    return score.partial or NOTHING_KNOWN
