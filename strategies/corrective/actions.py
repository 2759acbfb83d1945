"""The action trigger of Corrective RAG (paper section 4.3): from passage scores to one of three actions. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from strategies.corrective.params import Threshold, Thresholds

Action = Literal["correct", "ambiguous", "incorrect"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """An action, the best score (None: there was no passage), and the threshold that it reached or missed."""

    action: Action
    best: float | None
    threshold: Threshold


def trigger(scores: Sequence[float], thresholds: Thresholds) -> Trigger:
    """Any score at or above upper: correct; else any at or above lower: ambiguous; else, and of nothing: incorrect.

    The paper says above and below; its code compares with >=, and so does this.
    """
    best = max(scores, default=None)
    if best is not None and best >= thresholds.upper.value:
        return Trigger("correct", best, thresholds.upper)
    if best is not None and best >= thresholds.lower.value:
        return Trigger("ambiguous", best, thresholds.lower)
    return Trigger("incorrect", best, thresholds.lower)
