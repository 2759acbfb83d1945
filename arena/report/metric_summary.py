"""From the scores of a cell to one line per metric: mean, interval, coverage and bounds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import fsum
from typing import NamedTuple, TypeVar

import numpy as np

from arena.metrics import METRICS
from arena.report.schema import MetricSummary
from arena.report.score_columns import Rows, ScoreColumns
from arena.statistics.intervals import BOOTSTRAP_FLOOR, Resamples, Values, mean_interval
from arena.types import Partial, Score

COVERAGE_FLOOR = 0.95
"""Below this share of what should be known, a mean is withheld: it would flatter the cell."""

_UNKNOWN = Partial(known=0.0, low=0.0, high=1.0)
_NO_RESAMPLES = np.empty(0, dtype=np.float64)

Name = TypeVar("Name", bound=Hashable)


class Selection(NamedTuple):
    """One metric on some of the questions of a cell."""

    metric: str
    rows: Rows


def summarise_columns(columns: ScoreColumns, resamples: Resamples) -> dict[str, MetricSummary]:
    """Every metric of `columns` on all its questions, which are those of `resamples`."""
    rows = np.arange(len(columns.ids), dtype=np.intp)
    return summarise_selections(columns, {name: Selection(name, rows) for name in columns.scores}, resamples)


def summarise_selections(
    columns: ScoreColumns, selections: Mapping[Name, Selection], resamples: Resamples
) -> dict[Name, MetricSummary]:
    """Each selection under its name; all on the same resamples, which cost one multiplication."""
    resampled = _resampled(columns, selections, resamples)
    found = {}
    for name, (metric, rows) in selections.items():
        values = columns.values(metric)[rows]
        found[name] = summarise_metric(
            values[~np.isnan(values)],
            columns.missing(metric, rows),
            resampled.get(name, _NO_RESAMPLES),
            binary=_is_binary(metric),
        )
    return found


def summarise_metric(
    values: Values, missing: Sequence[Score], resampled: Values, *, binary: bool = False
) -> MetricSummary:
    """One metric of one cell.

    What is missing counts against coverage and widens the bounds, by as much of it as is not known. The mean is that of
    `values`, moved to the nearer bound where what is known of the others rules it out.

    Args:
        values: (n,) of the questions that have one, in any order.
        missing: the scores of those that should have one.
        resampled: (B,) bootstrap means of `values`; may be empty for fewer than BOOTSTRAP_FLOOR of them.
        binary: each value is 0 or 1.
    """
    partly = [one.partial or _UNKNOWN for one in missing]
    due = values.size + len(partly)
    if due == 0:
        return MetricSummary(mean=None, ci_low=None, ci_high=None, n=0, coverage=None)
    total = fsum(values.tolist())
    coverage = fsum([values.size, *(one.known for one in partly)]) / due
    lower = fsum([total, *(one.low for one in partly)]) / due
    upper = fsum([total, *(one.high for one in partly)]) / due
    mean = low = high = None
    if values.size and coverage >= COVERAGE_FLOOR:
        mean = min(max(total / values.size, lower), upper)
        if interval := mean_interval(values, resampled, binary=binary):
            low, high = min(interval.low, mean), max(interval.high, mean)
    return MetricSummary(
        mean=mean,
        ci_low=low,
        ci_high=high,
        n=values.size,
        coverage=coverage,
        lower_bound=lower,
        upper_bound=upper,
    )


def _resampled(columns: ScoreColumns, selections: Mapping[Name, Selection], resamples: Resamples) -> dict[Name, Values]:
    """(B,) resampled means of those selections whose interval is made of them."""
    wanted: dict[Name, Values] = {}
    for name, (metric, rows) in selections.items():
        values = columns.values(metric)
        if not _is_binary(metric) and np.count_nonzero(~np.isnan(values[rows])) >= BOOTSTRAP_FLOOR:
            wanted[name] = np.full(len(values), np.nan)
            wanted[name][rows] = values[rows]
    if not wanted:
        return {}
    means = resamples.means(np.column_stack(list(wanted.values())))
    return {name: means[:, place] for place, name in enumerate(wanted)}


def _is_binary(metric: str) -> bool:
    return metric in METRICS and METRICS[metric].binary
