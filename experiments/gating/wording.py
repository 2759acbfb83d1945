"""What the outcome of a check means, in words."""

from __future__ import annotations

from arena.statistics.noninferiority import Change, Outcome


def words_of(outcome: Outcome, change: Change, margin: float, left_out: int) -> str:
    """One clause on the outcome, and one on questions that could not be paired, if there are any."""
    alone = f"; {left_out} questions have a score in one of the two alone" if left_out else ""
    return _meaning(outcome, change, margin) + alone


def _meaning(outcome: Outcome, change: Change, margin: float) -> str:
    if outcome == "fail":
        return "worse by the margin or more, and by more than chance"
    if outcome == "pass":
        return "the same on every question" if change.identical else "worse by the margin is ruled out"
    if change.estimate <= -margin:
        return "worse by the margin or more, which may be chance"
    if change.low is None:
        return "too few questions differ to say what the change may be at worst"
    return "worse by the margin is not ruled out"
