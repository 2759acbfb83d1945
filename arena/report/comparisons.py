"""Which differences between cells are more than chance."""

from __future__ import annotations

from pydantic import Field

from arena.report.schema import Row


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


class Ranks(Row):
    """The ranks that a cell may have on one metric: 1 + cells significantly better .. cells not significantly worse.

    `in_top_group`: none is significantly better. Rows that do not compete (oracle, withheld, invalid) have no ranks.
    """

    best: int = Field(ge=1)
    worst: int = Field(ge=1)
    in_top_group: bool
