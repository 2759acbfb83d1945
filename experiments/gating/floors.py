"""Floors and ceilings: what a cell must reach by itself, whatever the baseline did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import fsum

import numpy as np

from arena.statistics.intervals import percentile, wilson_interval
from arena.statistics.noninferiority import Outcome
from experiments.gating.doubts import Scored
from experiments.gating.paired_scores import is_fault, readings_of
from experiments.gating.policy import SPENDING, Bounds, Policy
from experiments.gating.trials import SPENT, TAIL
from experiments.gating.verdict import Check, Kind

_ROUNDING = 1e-9
"""What a sum of decimal fractions may miss a limit by that it meets on paper."""

_WITHIN = "within the limit"


def floor_checks(cells: Sequence[tuple[str, Scored]], policy: Policy) -> list[Check]:
    """Every floor and ceiling in every cell (label, scores) that has the metric; one that no cell has is missing."""
    found: list[Check] = []
    asked: dict[str, float] = {}
    for label, scored in cells:
        bounds = policy.bounds_of(scored.cell.cell)
        limits = {**bounds.floors, **bounds.ceilings}
        asked |= {metric: limit for metric, limit in limits.items() if limit is not None}
        found += _of_cell(label, scored, bounds, policy)
    had = {check.metric for check in found}
    absent: Outcome = "fail" if policy.fail_on_missing else "inconclusive"
    return found + [
        Check("any cell", metric, "missing", absent, "the policy limits it, and no cell has it", limit=limit)
        for metric, limit in asked.items()
        if metric not in had
    ]


def _of_cell(label: str, scored: Scored, bounds: Bounds, policy: Policy) -> Iterator[Check]:
    for metric, limit in {**bounds.floors, **bounds.ceilings}.items():
        if limit is None:
            continue
        found = _spending(scored, metric, limit) if metric in SPENDING else _score(scored, metric, limit, policy)
        if found is not None:
            kind: Kind = "ceiling" if metric in bounds.ceilings else "floor"
            warn_only = metric in policy.warn_only
            yield replace(found, cell=label, metric=metric, kind=kind, limit=limit, warn_only=warn_only)


def _score(scored: Scored, metric: str, limit: float, policy: Policy) -> Check | None:
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
        return replace(check, outcome="fail" if policy.invalid == "fail" else "inconclusive", why=f"invalid: {message}")
    if upper < floor - _ROUNDING:
        return replace(check, outcome="fail", why="beyond the limit")
    if lower < floor - _ROUNDING:
        return replace(check, why="what is not known of it decides: within the limit or not")
    sure = bound >= floor - _ROUNDING
    return replace(
        check, outcome="pass", why=_WITHIN if sure else f"{_WITHIN} here; so few questions may have by chance"
    )


def _spending(scored: Scored, metric: str, limit: float) -> Check | None:
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
