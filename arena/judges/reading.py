"""What the parts of one verdict come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from arena.metrics.case import JUDGE_FAILED, PARTLY_JUDGED
from arena.types import JudgeMetric, Partial, Score, VerdictPart

NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Reading:
    """The parts, and the value in [0, 1] where all were judged.

    `partial`: of a value that is None, what is known of it (None = nothing). `details`: what it was worked out from.
    """

    parts: tuple[VerdictPart, ...]
    value: float | None = None
    partial: Partial | None = None
    details: Mapping[str, float] = field(default_factory=dict)

    def score(self, metric: JudgeMetric) -> Score:
        """As a score; one of which nothing is known is a failure of the judge."""
        if self.value is not None:
            return Score(metric, self.value)
        partly = self.partial is not None and self.partial.known > 0
        return Score(metric, None, PARTLY_JUDGED if partly else JUDGE_FAILED, self.partial)


def share(parts: Sequence[VerdictPart]) -> Reading:
    """The share of the parts judged 1, over all parts; a part that was not judged may be 0 or 1."""
    judged = [part.value for part in parts if part.value is not None]
    if not judged:
        return Reading(tuple(parts))
    total, missing = len(parts), len(parts) - len(judged)
    if not missing:
        return Reading(tuple(parts), sum(judged) / total)
    low, high = sum(judged) / total, (sum(judged) + missing) / total
    return Reading(tuple(parts), None, Partial(len(judged) / total, low, high))


def nothing(name: str, why: str | None) -> Reading:
    """What could not be judged at all, because `name` could not be had."""
    return Reading((VerdictPart(name, None, why),))
