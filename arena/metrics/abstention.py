"""Whether the system answered, and whether it should have. Each is 0.0 or 1.0, and asks for an answer or abstention."""

from __future__ import annotations

from arena.metrics.case import Case


def answered(case: Case) -> float | None:
    """1.0 if the record claims something, 0.0 if it abstains."""
    answer = case.record.answer
    return None if answer is None else float(not answer.abstained)


def abstained(case: Case) -> float | None:
    """1.0 if the record abstains, 0.0 if it claims something."""
    answer = case.record.answer
    return None if answer is None else float(answer.abstained)
