"""Why the answers of a cell are wrong: one class per question, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from arena.metrics.failures import CLASSES, Finding
from arena.report.schema import Row


class FailureCount(Row):
    """Questions of one class of `arena.metrics.failures.CLASSES`, the right ones included."""

    failure: str
    n: int = Field(ge=1)


class FailureSummary(Row):
    """The waterfall of a cell: classes in the order of the table, those without a question left out; sums to n.

    `broken_hops`: number of the hop (from 1) whose evidence was the first missing one -> wrongly answered questions.
    """

    counts: list[FailureCount]
    broken_hops: dict[int, int] = Field(default_factory=dict)

    @property
    def n_questions(self) -> int:
        return sum(count.n for count in self.counts)


def summarise_failures(findings: Iterable[Finding]) -> FailureSummary:
    """The waterfall of the findings of one cell, one per question. Raises KeyError for a class not in the table."""
    counts: Counter[str] = Counter(dict.fromkeys(CLASSES, 0))
    hops: Counter[int] = Counter()
    for finding in findings:
        counts[CLASSES[finding.failure].name] += 1
        if finding.hop is not None:
            hops[finding.hop] += 1
    return FailureSummary(
        counts=[FailureCount(failure=name, n=counts[name]) for name in CLASSES if counts[name]],
        broken_hops=dict(sorted(hops.items())),
    )
