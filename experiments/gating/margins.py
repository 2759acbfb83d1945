"""A run against its baseline: every metric of every cell that both have, and what may be said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from arena.leaderboard.metrics import QuestionResamples
from arena.statistics.noninferiority import Outcome, decide, smallest_caught
from experiments.gating.doubts import Doubt, Scored, doubt_of
from experiments.gating.family import Tested, tested
from experiments.gating.paired_scores import is_fault
from experiments.gating.policy import SPENDING, Policy
from experiments.gating.trials import Trial, latency_trial, score_trial, spending_trial
from experiments.gating.verdict import Check
from experiments.gating.wording import words_of


@dataclass(frozen=True, slots=True)
class _CellTrial:
    label: str
    trial: Trial
    doubt: Doubt | None
    warn_only: bool


def margin_checks(
    pairs: Sequence[tuple[str, Scored, Scored]], policy: Policy, resamples: QuestionResamples, seed: int
) -> list[Check]:
    """All checks of all pairs (label, run, baseline), in their order.

    The tests of all checks that can fail the gate are one family, those that only warn another.
    """
    tried = [one for label, new, old in pairs for one in _trials(label, new, old, policy, resamples)]
    checks: dict[int, Check] = {}
    for warning in (False, True):
        places = [place for place, one in enumerate(tried) if one.warn_only == warning]
        family = [tried[place].trial for place in places]
        size = sum(trial.change is not None for trial in family)
        for place, test in zip(places, tested(family, policy.level, seed), strict=True):
            checks[place] = _check(tried[place], test, policy, size)
    return [checks[place] for place in range(len(tried))]


def _trials(label: str, new: Scored, old: Scored, policy: Policy, resamples: QuestionResamples) -> Iterator[_CellTrial]:
    for metric, margin in policy.bounds_of(new.cell.cell).margins.items():
        if margin is None:
            continue
        make = latency_trial if metric == "p95_seconds" else spending_trial if metric in SPENDING else score_trial
        trial = make(metric, margin, new, old, resamples, policy.level)
        if trial is not None:
            yield _CellTrial(label, trial, doubt_of(metric, new, old), metric in policy.warn_only)


def _check(one: _CellTrial, test: Tested, policy: Policy, family: int) -> Check:
    trial, change, doubt = one.trial, one.trial.change, one.doubt
    check = Check(
        one.label,
        trial.metric,
        "margin",
        "inconclusive",
        doubt.why if doubt else trial.gap or "",
        limit=trial.margin,
        warn_only=one.warn_only,
        n=trial.n,
        new=trial.new,
        old=trial.old,
    )
    if trial.absent:
        outcome: Outcome = "fail" if policy.fail_on_missing else "inconclusive"
        return replace(check, kind="missing", outcome=outcome, why=trial.gap or "")
    if doubt and doubt.kind == "broken" and policy.invalid == "fail":
        return replace(check, outcome="fail")
    if change is None:
        return check
    sign = -1.0 if trial.metric in SPENDING or is_fault(trial.metric) else 1.0
    figures = replace(
        check,
        change=sign * change.estimate + 0.0,
        at_worst=None if change.low is None else sign * change.low + 0.0,
        p=test.p,
        p_adjusted=test.adjusted,
        catches=None if change.error is None else smallest_caught(change.error, trial.margin, policy.level / family),
    )
    decided = decide(change, trial.margin, 1.0 if test.adjusted is None else test.adjusted, policy.level)
    if doubt and (decided == "pass" or doubt.kind != "partial"):
        return figures
    return replace(figures, outcome=decided, why=words_of(decided, change, trial.margin, trial.left_out))
