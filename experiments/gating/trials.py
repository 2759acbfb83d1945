"""One metric of a cell and of the baseline's, put side by side, before it is decided what that means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum

import numpy as np

from arena.leaderboard.metrics import QuestionResamples
from arena.scoring import Usage
from arena.statistics.intervals import Values, percentile
from arena.statistics.noninferiority import Change, mean_change, quantile_change, ratio_change
from experiments.gating.doubts import Scored
from experiments.gating.paired_scores import is_fault, pair_scores, readings_of

TAIL = 95
"""The percentile of seconds that is held against the baseline's."""

Differences = Mapping[str, float]
"""Question id -> new - old, more being better; of spending old - new."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is known of a change.

    `change` None: nothing can be said of it, and `gap` says why. `new`, `old`: in the metric's own unit and direction.
    `differences`: what a permutation test is made of; None where `p` is already known. `absent`: the run has nothing
    to be held against what the baseline has.
    """

    metric: str
    margin: float
    n: int = 0
    new: float | None = None
    old: float | None = None
    change: Change | None = None
    differences: Differences | None = None
    p: float | None = None
    gap: str | None = None
    absent: bool = False
    left_out: int = 0


def score_trial(
    metric: str, margin: float, new: Scored, old: Scored, resamples: QuestionResamples, level: float
) -> Trial | None:
    """A score in [0, 1]; None where the baseline's cell has none either."""
    before, after = readings_of(old.columns, metric), readings_of(new.columns, metric)
    if not before:
        return None
    if not after:
        return Trial(
            metric, margin, gap=f"the baseline has it on {len(before)} questions, the run on none", absent=True
        )
    paired = pair_scores(after, before)
    known = ~np.isnan(paired.differences)
    differences = paired.differences[known]
    change = mean_change(differences, paired.worst, resamples.of(paired.ids), level) if paired.ids else None
    gap = None if change else f"only {differences.size} questions have a score in both"
    ids = [one for one, is_known in zip(paired.ids, known, strict=True) if is_known]
    return Trial(
        metric,
        margin,
        n=differences.size,
        new=_mean(paired.new[known], metric),
        old=_mean(paired.old[known], metric),
        change=change,
        differences=dict(zip(ids, differences.tolist(), strict=True)),
        gap=gap,
        left_out=paired.left_out,
    )


def spending_trial(
    metric: str, margin: float, new: Scored, old: Scored, resamples: QuestionResamples, level: float
) -> Trial | None:
    """Tokens or dollars of the questions that failed in neither; None where the baseline's are unknown or all 0."""
    ids = _shared(new, old, lambda usage: usage.outcome != "failed")
    before, after = ([SPENT[metric](side.cell.usage[one]) for one in ids] for side in (old, new))
    known_before = [one for one in before if one is not None]
    known_after = [one for one in after if one is not None]
    if len(known_before) < len(ids) or not (any(known_before) or any(known_after)):
        return None
    if len(known_after) < len(ids):
        unknown = len(ids) - len(known_after)
        return Trial(metric, margin, n=len(ids), gap=f"unknown of {unknown} of {len(ids)} questions of the run")
    spent, had = np.array(known_after, dtype=np.float64), np.array(known_before, dtype=np.float64)
    change = ratio_change(spent, had, resamples.of(ids), margin, level)
    return Trial(
        metric,
        margin,
        n=len(ids),
        new=fsum(spent) / len(ids),
        old=fsum(had) / len(ids),
        change=change,
        differences=dict(zip(ids, (had - spent).tolist(), strict=True)),
        gap=None if change else "the baseline spent nothing, or fewer than 2 questions can be compared",
    )


def latency_trial(
    metric: str, margin: float, new: Scored, old: Scored, resamples: QuestionResamples, level: float
) -> Trial | None:
    """p95 of seconds on the questions that both measured; None where the baseline measured none."""
    if not any(usage.measured for usage in old.cell.usage.values()):
        return None
    ids = _shared(new, old, lambda usage: usage.measured)
    after, before = (
        np.array([side.cell.usage[one].latency_seconds for one in ids], dtype=np.float64) for side in (new, old)
    )
    found = quantile_change(after, before, resamples.of(ids), TAIL, level) if ids else None
    return Trial(
        metric,
        margin,
        n=len(ids),
        new=percentile(after, TAIL),
        old=percentile(before, TAIL),
        change=found[0] if found else None,
        p=found[1] if found else None,
        gap=None if found else f"only {len(ids)} questions were measured in both",
    )


def tokens_of(usage: Usage) -> float | None:
    """Input and output tokens of one question, replayed ones included; None when any is unknown."""
    paid, replayed = usage.account.paid, usage.account.replayed
    return (paid.input_tokens + replayed.input_tokens + paid.output_tokens + replayed.output_tokens).value


def usd_of(usage: Usage) -> float | None:
    """What one question cost, replayed calls included; None when that is unknown."""
    return (usage.account.paid.usd + usage.account.replayed.usd).value


SPENT: Mapping[str, Callable[[Usage], float | None]] = {"tokens": tokens_of, "usd": usd_of}


def _mean(values: Values, metric: str) -> float | None:
    if not values.size:
        return None
    mean = fsum(values) / values.size
    return 1.0 - mean if is_fault(metric) else mean


def _shared(new: Scored, old: Scored, counts: Callable[[Usage], bool]) -> tuple[str, ...]:
    after, before = new.cell.usage, old.cell.usage
    return tuple(one for one in sorted(after.keys() & before.keys()) if counts(after[one]) and counts(before[one]))
