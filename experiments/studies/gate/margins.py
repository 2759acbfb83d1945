"""Test a run against its baseline: every metric of every cell that both have, as one family of tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from arena.leaderboard.metrics import QuestionResamples
from arena.statistics.noninferiority import Change, Outcome, decide, family_wise, least_p, no_worse_p, smallest_caught
from experiments.studies.gate.cells import ScoredCell, doubt_of
from experiments.studies.gate.checks import Check, Trial, latency_trial, score_trial, spending_trial
from experiments.studies.gate.policy import SPENDING, Policy, is_fault

Tested = tuple[float | None, float | None]
"""One-sided p of "not worse", and the same after Holm; None: the change does not reach its margin."""


def tested(trials: Sequence[Trial], level: float, seed: int) -> list[Tested]:
    """The p-values of those that reach their margin: the others cannot fail, and count in the family as not rejected.

    A check on which too few questions differ to be significant at all does not count (see `family_wise`).
    """
    reaching = [one.change is not None and decide(one.change, one.margin, 0.0, level) == "fail" for one in trials]
    if not any(reaching):
        return [(None, None)] * len(trials)
    raw = iter(_p_values([one for one, reaches in zip(trials, reaching, strict=True) if reaches], level, seed))
    p = [next(raw) if reaches else 1.0 for reaches in reaching]
    adjusted = family_wise(p, [_least(one) for one in trials], level)
    return [
        (one, other) if reaches else (None, None) for one, other, reaches in zip(p, adjusted, reaching, strict=True)
    ]


def _least(trial: Trial) -> float:
    """1 for a check without a test; 0 where the least p there could be is not known."""
    if trial.change is None:
        return 1.0
    return 0.0 if trial.differences is None else least_p(trial.change.differing)


def _p_values(trials: Sequence[Trial], level: float, seed: int) -> list[float]:
    """One sign per question for all of them: a question is exchanged between the runs as a whole."""
    columns = [one.differences for one in trials if one.p is None and one.differences is not None]
    ids = {one: row for row, one in enumerate(sorted({name for column in columns for name in column}))}
    table = np.full((len(ids), len(columns)), np.nan)
    for place, column in enumerate(columns):
        table[[ids[name] for name in column], place] = list(column.values())
    found = iter(no_worse_p(table, np.random.default_rng(seed), level) if columns else [])
    return [one.p if one.p is not None else next(found) for one in trials]


def _meaning(outcome: Outcome, change: Change, margin: float) -> str:
    if outcome == "fail":
        return "worse by the margin or more, and by more than chance"
    if outcome == "pass":
        return "the same on every question" if change.identical else "worse by the margin is ruled out"
    if change.estimate <= -margin:
        return "worse by the margin or more, which may be chance"
    if change.low is None:
        return "too few questions differ to say what the change may be at worst"
    return "worse by the margin is not ruled out"


def margin_checks(
    pairs: Sequence[tuple[str, ScoredCell, ScoredCell]], policy: Policy, resamples: QuestionResamples, seed: int
) -> list[Check]:
    """All checks of all pairs (label, run, baseline), in their order.

    The tests of all checks that can fail the gate are one family, those that only warn another.
    """
    tried = [one for label, new, old in pairs for one in _trials(label, new, old, policy, resamples)]
    checks: dict[int, Check] = {}
    # A check that cannot fail the gate must not make it harder for the others to reach significance.
    for warning in (False, True):
        places = [place for place, one in enumerate(tried) if one.check.warn_only == warning]
        family = [tried[place] for place in places]
        size = sum(trial.change is not None for trial in family)
        for place, test in zip(places, tested(family, policy.level, seed), strict=True):
            checks[place] = _decided(tried[place], test, policy, size)
    return [checks[place] for place in range(len(tried))]


def _trials(
    label: str, new: ScoredCell, old: ScoredCell, policy: Policy, resamples: QuestionResamples
) -> Iterator[Trial]:
    for metric, margin in policy.bounds_of(new.cell.cell).margins.items():
        if margin is None:
            continue
        warn_only = metric in policy.warn_only
        check = Check(label, metric, "margin", "inconclusive", "", limit=margin, warn_only=warn_only)
        make = latency_trial if metric == "p95_seconds" else spending_trial if metric in SPENDING else score_trial
        if trial := make(check, new, old, resamples, policy.level):
            yield replace(trial, doubt=doubt_of(metric, new, old))


def _decided(trial: Trial, test: Tested, policy: Policy, family: int) -> Check:
    check, change, doubt = trial.check, trial.change, trial.doubt
    if check.kind == "missing":
        return replace(check, outcome=policy.missing)
    if doubt:
        check = replace(check, why=doubt.why)
        if doubt.kind == "broken" and policy.invalid == "fail":
            return replace(check, outcome="fail")
    if change is None:
        return check
    (p, adjusted), margin = test, trial.margin
    sign = -1.0 if check.metric in SPENDING or is_fault(check.metric) else 1.0
    figures = replace(
        check,
        change=sign * change.estimate + 0.0,  # adding 0.0 makes -0.0 a 0
        at_worst=None if change.low is None else sign * change.low + 0.0,
        p=p,
        p_adjusted=adjusted,
        catches=None if change.error is None else smallest_caught(change.error, margin, policy.level / family),
    )
    decided = decide(change, margin, 1.0 if adjusted is None else adjusted, policy.level)
    if doubt and (decided == "pass" or doubt.kind != "partial"):
        return figures
    alone = f"; {trial.left_out} questions have a score in one of the two alone" if trial.left_out else ""
    return replace(figures, outcome=decided, why=_meaning(decided, change, margin) + alone)
