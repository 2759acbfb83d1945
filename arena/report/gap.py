"""What of the distance from knowing by heart to reading the gold a cell covers."""

from __future__ import annotations

from arena.report.schema import Row


class GapSummary(Row):
    """The share of the closed-book-to-oracle gap in answer F1 that a cell recovers, on the questions all three have.

    `recovered` = (cell - closed book) / (oracle - closed book); below 0 or above 1 where the cell leaves that range;
    None, with `withheld`, where the gap is not above 0 or a row is missing. `per_thousand_tokens`: recovered / (tokens
    per question / 1000). Interval: paired bootstrap over questions.
    """

    recovered: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    per_thousand_tokens: float | None = None
    n: int = 0
    withheld: str | None = None
