"""Whether the system answered, apart from how well."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.metrics import METRICS, Case
from arena.metrics import case as reasons
from arena.types import Answer, Cell, RunRecord
from tests.samples import GOLD, QUESTIONS, answered, failed

ABSTENTION = ("answer_rate", "correct_abstention", "false_abstention", "unsupported_claim")
ANSWERABLE, UNANSWERABLE = 0, 4


def scores(record: RunRecord, number: int, *names: str) -> list[float | str | None]:
    """Values, and reasons where there is none, on one of the sample questions."""
    question = QUESTIONS[number]
    found = [METRICS[name].score(Case(record, question, GOLD[question.question_id], {})) for name in names]
    return [one.reason if one.value is None else one.value for one in found]


def test_a_correct_i_dont_know_is_a_correct_abstention() -> None:
    record = answered("q5", "I don't know", ("d1",), abstained=True)
    assert scores(record, UNANSWERABLE, *ABSTENTION) == [0.0, 1.0, reasons.UNANSWERABLE, 0.0]


def test_an_answer_to_the_unanswerable_is_an_unsupported_claim() -> None:
    assert scores(answered("q5", "Aslan"), UNANSWERABLE, *ABSTENTION) == [1.0, 0.0, reasons.UNANSWERABLE, 1.0]


@pytest.mark.parametrize("abstained", [True, False])
def test_on_an_answerable_question_abstaining_is_never_correct(abstained: bool) -> None:
    record = answered("q1", "I don't know", ("d1",), abstained=abstained)
    expected = [float(not abstained), reasons.ANSWERABLE, float(abstained), reasons.ANSWERABLE]
    assert scores(record, ANSWERABLE, *ABSTENTION) == expected


def test_abstaining_moves_no_average_of_evidence() -> None:
    said, unsaid = answered("q1", "Ostrand", ("d1",)), answered("q1", "I don't know", ("d1",), abstained=True)
    evidence = ("retrieval_recall", "retrieval_precision", "full_recall", "mrr", "hop_coverage")
    assert scores(said, ANSWERABLE, *evidence) == scores(unsaid, ANSWERABLE, *evidence)


def test_a_failure_neither_answers_nor_abstains() -> None:
    missing, unanswerable, answerable = reasons.FAILED, reasons.UNANSWERABLE, reasons.ANSWERABLE
    assert scores(failed("q1"), ANSWERABLE, *ABSTENTION) == [missing, answerable, missing, answerable]
    assert scores(failed("q5"), UNANSWERABLE, *ABSTENTION) == [missing, missing, unanswerable, missing]


def test_retrieval_alone_does_neither_by_design() -> None:
    cell = Cell("retrieval_only", "dense", None)
    silent = replace(answered("q1", "", ("d1",), of=cell), answer=Answer(None, False, ("d1",), ("d1",)))
    for record in (silent, failed("q1", of=cell)):
        assert scores(record, ANSWERABLE, "answer_rate", "false_abstention") == [reasons.NO_ANSWER_BY_DESIGN] * 2
