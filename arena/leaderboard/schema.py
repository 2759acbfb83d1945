"""What the models of leaderboard.json have in common, and the figures and comparisons that they are made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class Row(BaseModel):
    """Base of the schema: closed and frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class MetricSummary(Row):
    """The mean of one metric over the questions it is defined for.

    `n` have a score; `coverage` is what is known over what should be: a question without a score counts 0, one of which
    parts are known their share. `lower_bound` and `upper_bound` are the mean with everything missing counted against
    and for the cell, None when nothing is defined. `mean` and its 95 % interval from `ci_low` to `ci_high` are None
    when nothing is defined, or when coverage is under the floor; the interval also for n = 1. Method:
    `arena.statistics.intervals.mean_interval`.
    """

    mean: float | None
    ci_low: float | None
    ci_high: float | None
    n: int = Field(ge=0)
    coverage: float | None = Field(ge=0, le=1)
    lower_bound: float | None = None
    upper_bound: float | None = None


class LatencySummary(Row):
    """Seconds per question without our own queue; measured questions only, failures and replays left out."""

    mean: float | None
    p50: float | None
    p95: float | None
    n_measured: int = Field(ge=0)


class TokenSummary(Row):
    """Mean tokens per question; None when a provider did not say for any one call."""

    input: float | None
    output: float | None


HEADLINE = ("answer_f1", "answer_em", "retrieval_recall", "full_recall", "answer_accuracy", "faithfulness")
"""The metrics on which cells are compared, ranked and broken down."""

LEVEL = 0.05
"""Of a comparison: the chance of one false difference or more among all pairs of a metric."""

FEW_SHARED = "fewer than 2 questions have a score in both"
"""Why two cells that compete were not compared."""


class Comparison(Row):
    """Two cells on the questions that both have a score for.

    `difference`: mean of a - b with its paired 95 % bootstrap interval; None, as `p`, where coverage of either cell is
    under the floor, and `withheld` says why. `p`: two-sided paired permutation test, never 0; `p_adjusted`: after Holm
    over all pairs of this metric.
    """

    metric: str
    a: str = Field(description="Key of a cell.")
    b: str
    n: int = Field(ge=0)
    difference: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    p: float | None = Field(default=None, gt=0, le=1)
    p_adjusted: float | None = Field(default=None, gt=0, le=1)
    withheld: str | None = None

    @property
    def significant(self) -> bool:
        """Whether the difference is more than chance, all pairs of the metric considered."""
        return bool(self.difference) and self.p_adjusted is not None and self.p_adjusted <= LEVEL


class Ranks(Row):
    """The ranks that a cell may have on one metric: 1 + cells significantly better .. cells not significantly worse.

    `in_top_group`: none is significantly better. Rows that do not compete (oracle, withheld, invalid) have no ranks.
    """

    best: int = Field(ge=1)
    worst: int = Field(ge=1)
    in_top_group: bool
