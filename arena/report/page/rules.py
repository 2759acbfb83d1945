"""The rounding rules by name, so that each figure of a page can say by which it was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from arena.report.cell_summary import CellSummary
from arena.report.figures import (
    INVALID,
    UNDEFINED,
    count_text,
    metric_text,
    p_text,
    per_question_text,
    range_text,
    ranks_text,
    ratio_text,
    second_text,
    seconds_parts,
    share_text,
    signed_interval_text,
    signed_text,
    times_text,
    tokens_text,
    usd_text,
)


def _sum_of_counts(*counts: int | None) -> str:
    return count_text(sum(count or 0 for count in counts))


def _tokens_sum(*tokens: float | None) -> str:
    known = [one for one in tokens if one is not None]
    return f"{sum(known):,.0f}" if len(known) == len(tokens) else "unknown"


def _times_of_sums(*amounts: float | None) -> str:
    known = [one for one in amounts if one is not None]
    half = len(amounts) // 2
    return times_text(sum(known[:half]), sum(known[half:])) if len(known) == len(amounts) else UNDEFINED


def _turned(difference: float | None) -> str:
    return signed_text(None if difference is None else -difference)


def _turned_interval(low: float | None, high: float | None) -> str:
    return signed_interval_text(None if high is None else -high, None if low is None else -low)


def _plain(text: object) -> str:
    return UNDEFINED if text is None else str(text)


def _seconds(cell: CellSummary) -> str:
    return " ".join(seconds_parts(cell))


RULES: Mapping[str, Callable[..., str]] = {
    "as_is": _plain,
    "count": count_text,
    "counts": _sum_of_counts,
    "interval": signed_interval_text,
    "invalid": lambda summary: INVALID,
    "metric": metric_text,
    "p": p_text,
    "per_question": per_question_text,
    "range": range_text,
    "ranks": ranks_text,
    "ratio": ratio_text,
    "second": second_text,
    "seconds": _seconds,
    "share": share_text,
    "signed": signed_text,
    "times": times_text,
    "times_of_sums": _times_of_sums,
    "tokens": tokens_text,
    "tokens_sum": _tokens_sum,
    "turned": _turned,
    "turned_interval": _turned_interval,
    "usd": usd_text,
}
"""Name -> from the values at a figure's paths to its text."""

_SHARE_OF_SUM = "share_of_sum:"


def rule_named(name: str) -> Callable[..., str]:
    """One of RULES, or `share_of_sum:K`: the share that the first K of some counts have in all of them."""
    if name.startswith(_SHARE_OF_SUM):
        n_parts = int(name.removeprefix(_SHARE_OF_SUM))
        return lambda *counts: share_text(sum(counts[:n_parts]) / sum(counts))
    return RULES[name]


def share_of_sum(n_parts: int) -> str:
    """The name of that rule."""
    return f"{_SHARE_OF_SUM}{n_parts}"
