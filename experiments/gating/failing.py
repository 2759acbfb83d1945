"""Cells of which so many questions failed that nothing can be said of them, which was not so in the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.leaderboard.metrics import COVERAGE_FLOOR
from experiments.gating.doubts import Scored
from experiments.gating.policy import Policy
from experiments.gating.verdict import Check

FAILED = "failed"
"""What such a check is called by, in the place of a metric: the share of the questions that failed."""

_MOST = 1.0 - COVERAGE_FLOOR


def failing_checks(pairs: Sequence[tuple[str, Scored, Scored]], policy: Policy) -> Iterator[Check]:
    """One check for each of the pairs (label, run, baseline) of which that holds; none for the others.

    Their means are withheld, and so neither pass nor, where the baseline was seldom right and has little to lose, fail.
    """
    for label, new, old in pairs:
        share, before = _failed(new), _failed(old)
        if share > _MOST >= before:
            yield Check(
                label,
                FAILED,
                "ceiling",
                "fail" if policy.invalid == "fail" else "inconclusive",
                f"more than {_MOST:.0%} of the questions failed, and nothing can be said of the others alone",
                limit=_MOST,
                n=len(new.cell.usage),
                new=share,
                old=before,
                change=share - before,
            )


def _failed(scored: Scored) -> float:
    """The share of a cell's questions that failed; 0 where it has none."""
    usage = scored.cell.usage.values()
    return sum(one.outcome == "failed" for one in usage) / len(usage) if usage else 0.0
