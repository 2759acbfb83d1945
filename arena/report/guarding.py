"""What makes a cell, or one of its metrics, no result at all."""

from __future__ import annotations

from pydantic import Field

from arena.report.schema import Row


class GuardFinding(Row):
    """One reason why a cell (`metric` None) or a metric of it is invalid: it says nothing, and is not a score of 0."""

    guard: str
    message: str
    metric: str | None = Field(default=None)
