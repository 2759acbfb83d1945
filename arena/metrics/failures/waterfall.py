"""From a record, its gold and its scores to the one class of its question. No model, no guess.

First what is settled by the outcome alone; then, of a wrong answer, the first stage at which it went wrong.
"""

from __future__ import annotations

from collections.abc import Mapping

from arena.errors import AllowanceSpent
from arena.metrics.answer import contains
from arena.metrics.case import Case
from arena.metrics.decisions import allowance_was_spent
from arena.metrics.failures.classes import Finding
from arena.metrics.failures.evidence import Missing, first_missing, why_missing
from arena.metrics.failures.reading import is_from_memory, misreading
from arena.metrics.reasons import JUDGE_FAILED, PARTLY_JUDGED, is_undefined
from arena.types import NO_RETRIEVAL_MODE, Answer, Failure, Score

NEARLY_F1 = 0.8
"""Token F1 from which on an answer that is no exact match is the right one in another form.

Of an answer of four words, one may be missing: 2 * 3 / (3 + 4) = 0.86. A name of two words with another first or last
one, 0.5, and a date with another year, 0.67, are wrong.
"""

RIGHT_FROM = 0.5
"""AnswerAccuracy from which on a summary counts as right: partly to both judges, or wholly to one."""


def find_failure(case: Case, scores: Mapping[str, Score], judge_due: bool = False) -> Finding:
    """The class of one question.

    Args:
        case: the record, its gold, and the texts that were shown.
        scores: metric -> score of that record; `answer_em`, `answer_f1`, and of a summary `answer_accuracy` where it
            was judged.
        judge_due: whether a judge was to rate the answers of this run.
    """
    record = case.record
    if record.answer is None:
        return Finding(_fault(record.failure))
    missing = first_missing(case)
    settled = _settled(case, record.answer, missing, scores, judge_due)
    if settled is not None:
        return Finding(settled)
    if allowance_was_spent(record):
        return _finding("stopped_by_cap", missing)
    if record.cell.retrieval_mode == NO_RETRIEVAL_MODE:
        return Finding("not_in_memory")
    if missing is not None:
        return _finding(why_missing(case, missing), missing)
    return Finding("false_abstention" if record.answer.abstained else misreading(case))


def _fault(failure: Failure | None) -> str:
    if failure is None:
        return "strategy_failed"
    if failure.stage == "strategy":
        return "stopped_by_cap" if failure.type == AllowanceSpent.__name__ else "strategy_failed"
    return "provider_failed" if failure.stage == "model" else "timed_out"


def _settled(
    case: Case, answer: Answer, missing: Missing | None, scores: Mapping[str, Score], judge_due: bool
) -> str | None:
    """The class of what is right or beyond telling; None = it is wrong, and the reason is to be found."""
    writes = answer.abstained or answer.text is not None
    if not writes:
        known = bool(case.gold.supporting_ids) and case.gold.answerable
        return "unscored" if not known else "evidence_found" if missing is None else None
    if not case.gold.answerable:
        return "correct_abstention" if answer.abstained else "false_answer"
    if answer.abstained:
        return None
    if case.question.kind == "summary":
        return _judged(scores.get("answer_accuracy"), judge_due)
    if _value(scores, "answer_em") == 1.0:
        unaided = case.record.cell.retrieval_mode != NO_RETRIEVAL_MODE and missing is not None and is_from_memory(case)
        return "answered_without_evidence" if unaided else "correct"
    near = _says_it(case, answer.text or "") or _value(scores, "answer_f1") >= NEARLY_F1
    return "format_only" if near else None


def _says_it(case: Case, text: str) -> bool:
    """Whether a gold answer stands in `text` that does not stand in the question: repeating that answers nothing."""
    official = case.gold.official
    return any(
        contains(text, [gold], official=official) and not contains(case.question.text, [gold], official=official)
        for gold in case.gold.answers
    )


def _judged(accuracy: Score | None, judge_due: bool) -> str | None:
    if accuracy is not None and accuracy.value is not None:
        return "correct" if accuracy.value >= RIGHT_FROM else None
    reason = accuracy.reason if accuracy else None
    due = reason in (JUDGE_FAILED, PARTLY_JUDGED) or (judge_due and not is_undefined(reason))
    return "judge_failed" if due else "unscored"


def _value(scores: Mapping[str, Score], metric: str) -> float:
    """0.0 for a score that is not there."""
    score = scores.get(metric)
    return score.value or 0.0 if score else 0.0


def _finding(failure: str, missing: Missing | None) -> Finding:
    return Finding(failure, missing.hop, missing.doc_id) if missing else Finding(failure)
