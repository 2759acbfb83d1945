"""From the scores of a cell to one line per metric: mean, interval, coverage and bounds, on shared resamples."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from arena.leaderboard.schema import MetricSummary
from arena.metrics import METRICS, is_undefined
from arena.scoring import CellScores
from arena.statistics.intervals import BOOTSTRAP_FLOOR, Resamples, Values, draw_resamples, mean_interval
from arena.types import KINDS, Partial, Question, Score, grouped

Ids = tuple[str, ...]
"""Ids of questions, sorted, so that their order in a file changes nothing."""


class QuestionResamples:
    """Resamples of each set of questions, stratified by kind and hops; drawn when first asked for, all from one seed.

    Whatever is computed on the same questions is so computed on the same resamples.
    """

    def __init__(self, questions: Iterable[Question], seed: int) -> None:
        self._strata = {one.question_id: (one.kind, one.hops) for one in questions}
        self._seed = seed
        self._drawn: dict[Ids, Resamples] = {}

    def of(self, ids: Ids) -> Resamples:
        """The resamples of these questions; KeyError for one that is not known."""
        if ids not in self._drawn:
            strata = [self._strata[one] for one in ids]
            self._drawn[ids] = draw_resamples(strata, np.random.default_rng(self._seed))
        return self._drawn[ids]


Rows = NDArray[np.intp]


Value = str | int
"""What an attribute of a question may be."""


def rows_by_value(values: Sequence[Value | None]) -> dict[Value, Rows]:
    """Rows of each value: numbers by size, kinds in their own order, then names by the alphabet.

    Empty where there are not at least two values to tell apart.
    """

    def place(value: Value) -> tuple[int, Value]:
        if isinstance(value, int):
            return 0, value
        return (1, value) if value not in KINDS else (0, KINDS.index(value))

    rows = grouped((value, row) for row, value in enumerate(values) if value is not None)
    return {one: np.array(rows[one], dtype=np.intp) for one in sorted(rows, key=place)} if len(rows) > 1 else {}


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """`scores[metric][i]` is that of `ids[i]`; None = the question was not scored by this metric at all."""

    ids: Ids
    scores: dict[str, list[Score | None]]
    _values: dict[str, Values] = field(default_factory=dict)

    def values(self, metric: str) -> Values:
        """(n,) values, NaN where there is none; all NaN for a metric the cell does not have. Not to be written to."""
        if metric not in self._values:
            column = self.scores.get(metric) or [None] * len(self.ids)
            self._values[metric] = np.array(
                [np.nan if one is None or one.value is None else one.value for one in column], dtype=np.float64
            )
        return self._values[metric]

    def missing(self, metric: str, rows: Rows) -> list[Score]:
        """The scores among `rows` that should have a value and do not."""
        values, column = self.values(metric), self.scores[metric]
        found = (column[row] for row in rows[np.isnan(values[rows])])
        return [score for score in found if score is not None and not is_undefined(score.reason)]


def columns_of_scores(cell: CellScores) -> ScoreColumns:
    """The columns of a cell, its metrics in the order in which they first appear."""
    ids = tuple(sorted(cell.scores))
    columns: dict[str, list[Score | None]] = {}
    for row, question_id in enumerate(ids):
        for score in cell.scores[question_id]:
            column = columns.get(score.metric)
            if column is None:
                column = columns[score.metric] = [None] * len(ids)
            column[row] = score
    return ScoreColumns(ids, columns)


COVERAGE_FLOOR = 0.95
"""Below this share of what should be known, a mean is withheld: it would flatter the cell."""

_UNKNOWN = Partial(known=0.0, low=0.0, high=1.0)
_NO_RESAMPLES = np.empty(0, dtype=np.float64)

Name = TypeVar("Name", bound=Hashable)


class MetricRows(NamedTuple):
    """One metric on some of the questions of a cell."""

    metric: str
    rows: Rows


def summarise_columns(columns: ScoreColumns, resamples: Resamples) -> dict[str, MetricSummary]:
    """Every metric of `columns` on all its questions, which are those of `resamples`."""
    rows = np.arange(len(columns.ids), dtype=np.intp)
    return summarise_selections(columns, {name: MetricRows(name, rows) for name in columns.scores}, resamples)


def summarise_selections(
    columns: ScoreColumns, selections: Mapping[Name, MetricRows], resamples: Resamples
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
        # The missing ones may be known in part, and that part may rule the mean of the others out.
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


def _resampled(
    columns: ScoreColumns, selections: Mapping[Name, MetricRows], resamples: Resamples
) -> dict[Name, Values]:
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
