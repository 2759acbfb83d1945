"""The checks of a gate, one per metric and cell, and the verdict on the run.

A floor or ceiling is what a cell must reach by itself. A cell fails of which so many questions failed that nothing can
be said, unless that was so in the baseline. A `Trial` puts a metric of a cell beside the baseline's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Literal

import numpy as np

from arena.leaderboard.metrics import COVERAGE_FLOOR, QuestionResamples
from arena.scoring import Usage
from arena.statistics.intervals import Values, percentile, wilson_interval
from arena.statistics.noninferiority import Change, Outcome, mean_change, quantile_change, ratio_change
from experiments.studies.gate.cells import Doubt, ScoredCell, pair_scores, readings_of
from experiments.studies.gate.policy import SPENDING, Bounds, Policy, is_fault

Kind = Literal["margin", "floor", "ceiling", "missing"]


@dataclass(frozen=True, slots=True)
class Check:
    """One metric of one cell against its limit.

    Args:
        cell: the cell's name, with the setting that tells it from its namesakes.
        metric: a metric, `tokens`, `usd` or `p95_seconds`; of a missing cell `cell`.
        kind: what `limit` is; `missing`: the baseline has it, and the run does not.
        outcome: `inconclusive` where too little is known to tell.
        why: the outcome in words.
        warn_only: it cannot fail the gate.
        n: questions it rests on.
        new, old: means (of `p95_seconds`: percentiles) of run and baseline on these questions.
        change: new - old; of spending, new / old - 1.
        at_worst: the one-sided confidence bound of `change` on its bad side.
        p, p_adjusted: one-sided, of "not worse"; None where `change` does not reach the margin.
        catches: the true change for the worse that would have failed with 80 % probability.
    """

    cell: str
    metric: str
    kind: Kind
    outcome: Outcome
    why: str
    limit: float | None = None
    warn_only: bool = False
    n: int = 0
    new: float | None = None
    old: float | None = None
    change: float | None = None
    at_worst: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    catches: float | None = None

    @property
    def name(self) -> str:
        """As in `retrieval_recall of vanilla/dense`."""
        return f"{self.metric} of {self.cell}"


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """All checks of a run.

    `run`, `baseline`: the folders as they were named. `policy_file` None: the built-in policy. `notes`: what else a
    reader must know, one sentence each.
    """

    run: Path
    baseline: Path | None
    policy: Policy
    policy_file: Path | None
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no check stops the run."""
        return not any(self.stops(check) for check in self.checks)

    def stops(self, check: Check) -> bool:
        """Whether this check alone fails the gate."""
        failing = ("fail", "inconclusive") if self.policy.inconclusive == "fail" else ("fail",)
        return check.outcome in failing and not check.warn_only

    @property
    def stopping(self) -> tuple[Check, ...]:
        """The checks that fail the gate."""
        return tuple(check for check in self.checks if self.stops(check))

    def count(self, outcome: Outcome) -> int:
        """How many checks came out so."""
        return sum(check.outcome == outcome for check in self.checks)


FAILED = "failed"
"""What such a check is called by, in the place of a metric: the share of the questions that failed."""

_MOST = 1.0 - COVERAGE_FLOOR


def failing_checks(pairs: Sequence[tuple[str, ScoredCell, ScoredCell]], policy: Policy) -> Iterator[Check]:
    """One check for each of the pairs (label, run, baseline) of which that holds; none for the others.

    Their means are withheld, and so neither pass nor, where the baseline was seldom right and has little to lose, fail.
    """
    for label, new, old in pairs:
        share, before = _failed(new), _failed(old)
        if share > _MOST >= before:
            yield Check(
                label,
                FAILED,
                "ceiling",
                policy.invalid,
                f"more than {_MOST:.0%} of the questions failed, and nothing can be said of the others alone",
                limit=_MOST,
                n=len(new.cell.usage),
                new=share,
                old=before,
                change=share - before,
            )


def _failed(scored: ScoredCell) -> float:
    """The share of a cell's questions that failed; 0 where it has none."""
    usage = scored.cell.usage.values()
    return sum(one.outcome == "failed" for one in usage) / len(usage) if usage else 0.0


TAIL = 95
"""The percentile of seconds that is held against the baseline's."""

Differences = Mapping[str, float]
"""Question id -> new - old, more being better; of spending old - new."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is known of a change, before it is decided.

    `check`: with its figures, in the metric's own unit and direction. Where `change` is None, `why` of it says what is
    lacking; it is of kind `missing` where the run has nothing to be held against what the baseline has.
    `differences`: what a permutation test is made of; None where `p` is already known. `left_out`: questions that have
    a score in one of the two only. `doubt`: why it cannot pass.
    """

    check: Check
    change: Change | None = None
    differences: Differences | None = None
    p: float | None = None
    left_out: int = 0
    doubt: Doubt | None = None

    @property
    def margin(self) -> float:
        return self.check.limit or 0.0


def score_trial(
    check: Check, new: ScoredCell, old: ScoredCell, resamples: QuestionResamples, level: float
) -> Trial | None:
    """A score in [0, 1]; None where the baseline's cell has none either."""
    metric = check.metric
    before, after = readings_of(old.columns, metric), readings_of(new.columns, metric)
    if not before:
        return None
    if not after:
        why = f"the baseline has it on {len(before)} questions, the run on none"
        return Trial(replace(check, kind="missing", why=why))
    paired = pair_scores(after, before)
    known = ~np.isnan(paired.differences)
    differences = paired.differences[known]
    now, was = (_mean(side[known], metric) for side in (paired.new, paired.old))
    why = f"only {differences.size} questions have a score in both"
    ids = [one for one, is_known in zip(paired.ids, known, strict=True) if is_known]
    return Trial(
        replace(check, n=differences.size, new=now, old=was, why=why),
        mean_change(differences, paired.worst, resamples.of(paired.ids), level) if paired.ids else None,
        dict(zip(ids, differences.tolist(), strict=True)),
        left_out=paired.left_out,
    )


def spending_trial(
    check: Check, new: ScoredCell, old: ScoredCell, resamples: QuestionResamples, level: float
) -> Trial | None:
    """Tokens or dollars of the questions that failed in neither; None where the baseline's are unknown or all 0."""
    ids = _shared(new, old, lambda usage: usage.outcome != "failed")
    before, after = ([SPENT[check.metric](side.cell.usage[one]) for one in ids] for side in (old, new))
    known_before = [one for one in before if one is not None]
    known_after = [one for one in after if one is not None]
    if len(known_before) < len(ids) or not (any(known_before) or any(known_after)):
        return None
    if len(known_after) < len(ids):
        why = f"unknown of {len(ids) - len(known_after)} of {len(ids)} questions of the run"
        return Trial(replace(check, n=len(ids), why=why))
    spent, had = np.array(known_after, dtype=np.float64), np.array(known_before, dtype=np.float64)
    why = "the baseline spent nothing, or fewer than 2 questions can be compared"
    return Trial(
        replace(check, n=len(ids), new=fsum(spent) / len(ids), old=fsum(had) / len(ids), why=why),
        ratio_change(spent, had, resamples.of(ids), check.limit or 0.0, level),
        dict(zip(ids, (had - spent).tolist(), strict=True)),
    )


def latency_trial(
    check: Check, new: ScoredCell, old: ScoredCell, resamples: QuestionResamples, level: float
) -> Trial | None:
    """p95 of seconds on the questions that both measured; None where the baseline measured none."""
    if not any(usage.measured for usage in old.cell.usage.values()):
        return None
    ids = _shared(new, old, lambda usage: usage.measured)
    after, before = (
        np.array([side.cell.usage[one].latency_seconds for one in ids], dtype=np.float64) for side in (new, old)
    )
    why = f"only {len(ids)} questions were measured in both"
    figures = replace(check, n=len(ids), new=percentile(after, TAIL), old=percentile(before, TAIL), why=why)
    found = quantile_change(after, before, resamples.of(ids), TAIL, level) if ids else None
    return Trial(figures, found[0], p=found[1]) if found else Trial(figures)


SPENT: Mapping[str, Callable[[Usage], float | None]] = {
    "tokens": lambda usage: (usage.account.whole.input_tokens + usage.account.whole.output_tokens).value,
    "usd": lambda usage: usage.account.whole.usd.value,
}
"""What one question took, replayed calls included; None when any of it is unknown."""


def _mean(values: Values, metric: str) -> float | None:
    if not values.size:
        return None
    mean = fsum(values) / values.size
    return 1.0 - mean if is_fault(metric) else mean


def _shared(new: ScoredCell, old: ScoredCell, counts: Callable[[Usage], bool]) -> tuple[str, ...]:
    after, before = new.cell.usage, old.cell.usage
    return tuple(one for one in sorted(after.keys() & before.keys()) if counts(after[one]) and counts(before[one]))


_ROUNDING = 1e-9
"""What a sum of decimal fractions may miss a limit by that it meets on paper."""

_WITHIN = "within the limit"


def floor_checks(cells: Sequence[tuple[str, ScoredCell]], policy: Policy) -> list[Check]:
    """Every floor and ceiling in every cell (label, scores) that has the metric; one that no cell has is missing."""
    found: list[Check] = []
    asked: dict[str, float] = {}
    for label, scored in cells:
        bounds = policy.bounds_of(scored.cell.cell)
        limits = {**bounds.floors, **bounds.ceilings}
        asked |= {metric: limit for metric, limit in limits.items() if limit is not None}
        found += _of_cell(label, scored, bounds, policy)
    had = {check.metric for check in found}
    return found + [
        Check("any cell", metric, "missing", policy.missing, "the policy limits it, and no cell has it", limit=limit)
        for metric, limit in asked.items()
        if metric not in had
    ]


def _of_cell(label: str, scored: ScoredCell, bounds: Bounds, policy: Policy) -> Iterator[Check]:
    for metric, limit in {**bounds.floors, **bounds.ceilings}.items():
        if limit is None:
            continue
        found = _spending(scored, metric, limit) if metric in SPENDING else _score(scored, metric, limit, policy)
        if found is not None:
            kind: Kind = "ceiling" if metric in bounds.ceilings else "floor"
            warn_only = metric in policy.warn_only
            yield replace(found, cell=label, metric=metric, kind=kind, limit=limit, warn_only=warn_only)


def _score(scored: ScoredCell, metric: str, limit: float, policy: Policy) -> Check | None:
    """A mean over the questions that have the score or should; a failed one counts as the worst there is."""
    readings = list(readings_of(scored.columns, metric).values())
    if not readings:
        return None
    n, turned = len(readings), is_fault(metric)
    floor = 1.0 - limit if turned else limit
    lower, upper = (fsum(getattr(one, end) for one in readings) / n for end in ("low", "high"))
    least = wilson_interval(np.array([one.low for one in readings]), 1.0 - 2.0 * policy.level)
    bound = least.low if least else lower
    check = _blank(n, 1.0 - lower if turned else lower, 1.0 - bound if turned else bound)
    if message := scored.invalid(metric):
        return replace(check, outcome=policy.invalid, why=f"invalid: {message}")
    if upper < floor - _ROUNDING:
        return replace(check, outcome="fail", why="beyond the limit")
    if lower < floor - _ROUNDING:
        return replace(check, why="what is not known of it decides: within the limit or not")
    sure = bound >= floor - _ROUNDING
    return replace(
        check, outcome="pass", why=_WITHIN if sure else f"{_WITHIN} here; so few questions may have by chance"
    )


def _spending(scored: ScoredCell, metric: str, limit: float) -> Check | None:
    """A mean over the questions that did not fail; of seconds, the percentile over those that were measured."""
    usage = [one for one in scored.cell.usage.values() if one.outcome != "failed"]
    if metric in SPENT:
        spent = [SPENT[metric](one) for one in usage]
        known = [one for one in spent if one is not None]
        if not known:
            return None
        check = _blank(len(usage), fsum(known) / len(known))
        if len(known) < len(spent):
            return replace(check, why=f"unknown of {len(spent) - len(known)} of {len(spent)} questions")
    else:
        seconds = np.array([one.latency_seconds for one in usage if one.measured])
        check = _blank(seconds.size, percentile(seconds, TAIL))
    if check.new is None:
        return None
    within = check.new <= limit + _ROUNDING
    return replace(check, outcome="pass" if within else "fail", why=_WITHIN if within else "beyond the limit")


def _blank(n: int, value: float | None, at_worst: float | None = None) -> Check:
    return Check("", "", "floor", "inconclusive", "", n=n, new=value, at_worst=at_worst)
