"""The failure taxonomy: exactly one class per question, from gold, without a model. Rules: docs/failures.md."""

from __future__ import annotations

from arena.metrics.failures.classes import CLASSES, FailureClass, FailureFinding, FailureStage
from arena.metrics.failures.waterfall import find_failure

__all__ = ["CLASSES", "FailureClass", "FailureFinding", "FailureStage", "find_failure"]
