"""A metric as the arena applies it: pure arithmetic, and when it does not apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arena.metrics.case import Case
from arena.metrics.gaps import Gap
from arena.types import JudgeMetric, Score

Measure = Callable[[Case], float | None]


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """One row of the table of metrics.

    `gap` gives the reason why a record has no value, None when it has one; `measure` is asked only then.
    `binary`: every value is 0 or 1, which decides how its confidence interval is worked out. `higher_is_better`: False
    for what counts faults. `proxy_for`: what a judge says better, and this without a model.
    """

    name: str
    summary: str
    gap: Gap
    measure: Measure
    binary: bool = False
    higher_is_better: bool = True
    proxy_for: JudgeMetric | None = None

    def score(self, case: Case) -> Score:
        """This metric on one record."""
        reason = self.gap(case)
        if reason is not None:
            return Score(self.name, None, reason)
        return Score(self.name, self.measure(case))
