"""The headline metrics of a cell by what was asked: kind, number of hops, and shape of the chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from arena.report.comparisons import HEADLINE
from arena.report.metric_summary import Selection, summarise_selections
from arena.report.schema import MetricSummary
from arena.report.score_columns import Rows, ScoreColumns
from arena.statistics.intervals import Resamples
from arena.types import KINDS, Question

Breakdown = dict[str, dict[str, dict[str, MetricSummary]]]
"""Attribute of a question -> its value -> metric."""

_Value = str | int

_ATTRIBUTES: Mapping[str, Callable[[Question], _Value | None]] = {
    "kind": lambda question: question.kind,
    "hops": lambda question: question.hops,
    "hop_shape": lambda question: question.hop_shape,
}


def break_down(columns: ScoreColumns, questions: Mapping[str, Question], resamples: Resamples) -> Breakdown:
    """HEADLINE by every attribute that has more than one value among the questions of a cell.

    Questions without a value are in none of an attribute's groups. `resamples` are those of the cell's questions.
    """
    asked = [questions[one] for one in columns.ids]
    selections = {
        (name, str(value), metric): Selection(metric, rows)
        for name, attribute in _ATTRIBUTES.items()
        for value, rows in _groups([attribute(one) for one in asked]).items()
        for metric in HEADLINE
        if metric in columns.scores
    }
    found: Breakdown = {}
    for (name, value, metric), summary in summarise_selections(columns, selections, resamples).items():
        found.setdefault(name, {}).setdefault(value, {})[metric] = summary
    return found


def _groups(values: list[_Value | None]) -> dict[_Value, Rows]:
    """Rows of each value, in reading order; empty where there are not at least two to tell apart."""
    rows: dict[_Value, list[int]] = {}
    for row, value in enumerate(values):
        if value is not None:
            rows.setdefault(value, []).append(row)
    return {one: np.array(rows[one], dtype=np.intp) for one in sorted(rows, key=_place)} if len(rows) > 1 else {}


def _place(value: _Value) -> tuple[int, _Value]:
    """Numbers by size, kinds in their own order, then names by the alphabet."""
    if isinstance(value, int):
        return 0, value
    return (1, value) if value not in KINDS else (0, KINDS.index(value))
