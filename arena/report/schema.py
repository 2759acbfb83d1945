"""What the models of leaderboard.json have in common, and the figures that they are made of."""

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
