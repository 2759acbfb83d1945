"""A verdict's figures as text. Shares to three digits: margins are hundredths, and changes are smaller."""

from __future__ import annotations

from arena.report.figures import UNDEFINED, p_text, usd_text
from experiments.gating.policy import SPENDING
from experiments.gating.verdict import Check

HEADINGS = ("cell", "metric", "n", "baseline", "run", "change", "at worst", "limit", "p", "would catch", "outcome")
N_NAMES = 2
"""The first of them are names, the others figures."""

HOW_TO_READ = (
    "change: run - baseline, of tokens, usd and seconds run / baseline - 1. at worst: its one-sided confidence bound. "
    "limit: the margin (floor, ceiling) of the policy. p: chance of such a change were nothing worse, after Holm; not "
    "asked where the change does not reach the margin. would catch: the true change for the worse that this check "
    "would have failed 4 times in 5; smaller ones may have been missed."
)

_SIGNS = {"floor": "\N{GREATER-THAN OR EQUAL TO} ", "ceiling": "\N{LESS-THAN OR EQUAL TO} "}


def figures_of(check: Check, *, stops: bool) -> tuple[str, ...]:
    """One row under HEADINGS. `stops`: it fails the gate."""
    return (
        check.cell,
        check.metric,
        str(check.n) if check.n else UNDEFINED,
        value_text(check.metric, check.old),
        value_text(check.metric, check.new),
        change_text(check.metric, check.change),
        _at_worst(check),
        _limit(check),
        p_text(check.p_adjusted),
        UNDEFINED if check.catches is None else _size(check.metric, check.catches),
        outcome_text(check, stops=stops),
    )


def outcome_text(check: Check, *, stops: bool) -> str:
    """As in `FAIL`; lower case where the gate passes all the same."""
    if stops:
        return "FAIL" if check.outcome == "fail" else "FAIL (inconclusive)"
    return "fail (warns only)" if check.outcome == "fail" else check.outcome


def value_text(metric: str, value: float | None) -> str:
    """A mean or percentile in the metric's unit."""
    if value is None:
        return UNDEFINED
    if metric == "usd":
        return usd_text(value)
    return f"{value:,.0f}" if metric == "tokens" else f"{value:.2f}" if metric == "p95_seconds" else f"{value:.3f}"


def change_text(metric: str, change: float | None) -> str:
    """With its sign; of spending in percent."""
    if change is None:
        return UNDEFINED
    return f"{round(100 * change, 1) + 0.0:+.1f} %" if metric in SPENDING else f"{round(change, 3) + 0.0:+.3f}"


def _at_worst(check: Check) -> str:
    return (
        value_text(check.metric, check.at_worst) if check.change is None else change_text(check.metric, check.at_worst)
    )


def _limit(check: Check) -> str:
    if check.limit is None:
        return UNDEFINED
    if check.kind in _SIGNS:
        return _SIGNS[check.kind] + value_text(check.metric, check.limit)
    return _size(check.metric, check.limit)


def _size(metric: str, size: float) -> str:
    return f"{100 * size:.1f} %" if metric in SPENDING else f"{size:.3f}"
