"""What makes a cell, or one of its metrics, no result at all."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from arena.report.schema import Row
from arena.scoring import ScoreTable
from arena.scoring.guards import check_cells


class GuardFinding(Row):
    """One reason why a cell (`metric` None) or a metric of it is invalid: it says nothing, and is not a score of 0."""

    guard: str
    message: str
    metric: str | None = Field(default=None)


def guard_cells(table: ScoreTable) -> Mapping[str, list[GuardFinding]]:
    """Cell key -> what is wrong with it; every cell of `table` has an entry, empty where all is well."""
    return {
        key: [GuardFinding(guard=one.guard, message=one.message, metric=one.metric) for one in findings]
        for key, findings in check_cells(table).items()
    }
