"""Why the answers of a cell are wrong: one class per question, counted."""

from __future__ import annotations

from pydantic import Field

from arena.report.schema import Row


class FailureCount(Row):
    """Questions of one class of `arena.metrics.failures.CLASSES`, the right ones included."""

    failure: str
    n: int = Field(ge=0)


class FailureSummary(Row):
    """The waterfall of a cell: classes in the order of the table, those without a question left out; sums to n.

    `broken_hops`: number of the hop (from 1) at which an incomplete chain broke -> questions.
    """

    counts: list[FailureCount]
    broken_hops: dict[int, int] = Field(default_factory=dict)
