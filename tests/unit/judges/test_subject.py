from __future__ import annotations

from dataclasses import replace

import pytest

from arena.judges.subject import NEEDS, settled, subject_of
from arena.metrics import METRICS
from arena.metrics.answer import worth_of_abstaining
from arena.metrics.case import (
    ABSTAINED,
    FAILED,
    NO_ANSWER_BY_DESIGN,
    NO_CONTENT,
    NO_RETRIEVAL,
    TEXT_UNKNOWN,
    UNANSWERABLE,
    Case,
    is_undefined,
)
from arena.types import Answer, Cell, JudgeMetric, RunRecord, Score
from tests.samples import answered, failed
from tests.unit.judges.court import case_of, usual_case

CLOSED_BOOK = Cell("closed_book", "none", "fake:")
SILENT = replace(answered("q1", "", ("d1",)), answer=Answer(None, abstained=False, used_ids=("d1",)))


@pytest.mark.parametrize("metric", NEEDS)
def test_an_answer_with_its_evidence_is_for_the_judge(metric: JudgeMetric) -> None:
    assert settled(usual_case(), metric) is None


@pytest.mark.parametrize(
    ("record", "metric", "reason"),
    [
        (answered("q1", "I don't know", ("d1",), abstained=True), "faithfulness", ABSTAINED),
        (answered("q5", "I don't know", ("d1",), abstained=True), "answer_relevancy", ABSTAINED),
        (answered("q5", "I don't know", ("d1",), abstained=True), "answer_accuracy", UNANSWERABLE),
        (answered("q5", "Ostrand", ("d1",)), "answer_accuracy", UNANSWERABLE),
        (answered("q5", "Ostrand", ("d1",)), "context_recall", UNANSWERABLE),
        (answered("q1", "Ostrand", of=CLOSED_BOOK), "faithfulness", NO_RETRIEVAL),
        (answered("q1", "Ostrand", of=CLOSED_BOOK), "context_precision", NO_RETRIEVAL),
        (
            answered("q1", "Ostrand", ("d1",), of=Cell("retrieval_only", "dense", None)),
            "context_recall",
            NO_ANSWER_BY_DESIGN,
        ),
        (SILENT, "context_recall", NO_ANSWER_BY_DESIGN),
        (answered("q1", "  ", ("d1",)), "faithfulness", NO_CONTENT),
    ],
)
def test_what_has_no_such_score_is_not_judged(record: RunRecord, metric: JudgeMetric, reason: str) -> None:
    score = settled(case_of(record), metric)
    assert score is not None
    assert (score.value, score.reason) == (None, reason)
    assert is_undefined(score.reason)


@pytest.mark.parametrize(
    ("record", "metric", "reason"),
    [
        (failed("q1"), "answer_accuracy", FAILED),
        (answered("q1", "Ostrand", ("elsewhere",)), "faithfulness", TEXT_UNKNOWN),
    ],
)
def test_what_this_run_cannot_tell_is_missing(record: RunRecord, metric: JudgeMetric, reason: str) -> None:
    score = settled(case_of(record), metric)
    assert score is not None
    assert (score.value, score.reason) == (None, reason)
    assert not is_undefined(score.reason)


@pytest.mark.parametrize(
    ("record", "metric"),
    [
        (answered("q1", "Ostrand"), "faithfulness"),
        (answered("q5", "Ostrand"), "faithfulness"),
        (answered("q1", "Ostrand"), "context_precision"),
        (answered("q1", "I don't know", abstained=True), "context_recall"),
        (answered("q1", " ", ("d1",)), "answer_accuracy"),
        (answered("q1", " ", ("d1",)), "answer_relevancy"),
    ],
)
def test_nothing_shown_and_nothing_said_are_zeros_that_no_judge_is_asked(
    record: RunRecord, metric: JudgeMetric
) -> None:
    score = settled(case_of(record), metric)
    assert score is not None
    assert score.value == 0.0


ABSTENTIONS = (
    answered("q1", "I don't know", ("d1",), abstained=True),
    answered("q1", "I don't know", of=CLOSED_BOOK, abstained=True),
    answered("q1", "I don't know", ("d1", "d2"), of=Cell("oracle", "gold", "fake:"), abstained=True),
    answered("q1", "Mirelle Ostrand", ("d1",), of=Cell("mine", "imported", "unstated"), abstained=True),
    replace(SILENT, outcome="abstained", answer=Answer(None, abstained=True, used_ids=("d1",))),
    replace(SILENT, outcome="abstained", answer=Answer(None, abstained=True, used_ids=("d1",), shown=None)),
)


@pytest.mark.parametrize("record", ABSTENTIONS)
@pytest.mark.parametrize("metric", ["answer_accuracy", "answer_correctness", "answer_relevancy"])
def test_an_abstention_on_an_answerable_question_is_a_wrong_answer_without_asking(
    record: RunRecord, metric: JudgeMetric
) -> None:
    assert settled(case_of(record), metric) == Score(metric, 0.0)
    for unjudged in ("answer_em", "answer_f1", "answer_contains"):
        assert METRICS[unjudged].score(case_of(record)).value == 0.0


def test_an_abstention_is_in_one_place_what_it_is_for_all_metrics_of_answers() -> None:
    """So that abstaining raises no mean: whatever was said instead, 0 is the least a metric gives."""
    for record in ABSTENTIONS:
        assert worth_of_abstaining(case_of(record)) == 0.0
    assert worth_of_abstaining(case_of(answered("q5", "I don't know", abstained=True))) is None
    assert worth_of_abstaining(case_of(answered("q1", "I don't know"))) is None
    assert worth_of_abstaining(case_of(failed("q1"))) is None


def test_a_subject_is_what_was_shown_in_the_order_shown() -> None:
    subject = subject_of(usual_case("Ostr\ud800and", used=("d2", "d1")))
    assert subject.question == "Who governs the town near the source of the Orlen Weir?"
    assert (subject.answer, subject.reference) == ("Ostr?and", "Mirelle Ostrand")
    assert list(subject.texts) == ["d2", "d1"]
    assert subject.texts["d1"].startswith("Orlen Weir\nOrlen Weir is a river")


def test_the_hash_changes_with_everything_that_is_judged() -> None:
    case = usual_case()
    other_gold = replace(case.gold, answers=("Quennick", *case.gold.answers))
    cases = [
        case,
        usual_case("Ostrand"),
        usual_case(used=("d2", "d1")),
        usual_case(used=("d1",)),
        Case(case.record, replace(case.question, text="Who?"), case.gold, case.documents),
        Case(case.record, case.question, other_gold, case.documents),
    ]
    shas = [subject_of(one).sha for one in cases]
    assert len(set(shas)) == len(shas)
    assert subject_of(usual_case()).sha == shas[0]
