"""The scores of one cell as columns: metric -> one score per question, in the order of the questions' ids."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arena.metrics import is_undefined
from arena.report.question_resamples import Ids
from arena.scoring import CellScores
from arena.statistics.intervals import Values
from arena.types import Score

Rows = NDArray[np.intp]


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
