"""Whether the system answered, whether it should have, and what not answering is worth where it should have."""

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


def worth_of_abstaining(case: Case) -> float | None:
    """0.0 where the record abstains on a question that has an answer; None where it does not, or has none.

    The rule of every metric that says how good an answer is, judged or not: abstaining is no way past a wrong answer.
    What is measured on claims alone (faithfulness, citations) is undefined for an abstention, which claims nothing.
    """
    answer = case.record.answer
    return 0.0 if answer is not None and answer.abstained and case.gold.answerable else None
