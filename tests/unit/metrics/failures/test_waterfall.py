from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.case import ABSTAINED, JUDGE_FAILED, NOT_JUDGED, Case
from arena.metrics.controllers import had_no_room
from arena.metrics.failures import FailureFinding, failure_classes, find_failure
from arena.types import FIT, Cell, Decision, Failure, Retrieval, Score
from tests.samples import failed
from tests.unit.metrics.failures.chain_cases import ASKED, CLOSED_BOOK, case, record, retrieval, scores

SPENT = Decision("allowance", "spent", changed=("answer",))


def found(of: Case, *, judge_due: bool = False) -> FailureFinding:
    return find_failure(of, scores(of), judge_due)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Failure("model", "ModelCallError", "HTTP 500"), "provider_failed"),
        (Failure("timeout", "QuestionTimeout", "after 60 s"), "timed_out"),
        (Failure("strategy", "AllowanceSpent", "8 calls"), "stopped_by_cap"),
        (Failure("strategy", "KeyError", "'passages'"), "strategy_failed"),
    ],
)
def test_a_failed_record_is_a_fault_of_the_system(failure: Failure, expected: str) -> None:
    for question_id in ("q1", "q4", "q5"):
        assert found(case(replace(failed(question_id), failure=failure))) == FailureFinding(expected)


def test_right_is_correct() -> None:
    assert found(case(record("Ostrand"))) == FailureFinding("correct")
    assert found(case(record("Mirelle Ostrand", (), of=CLOSED_BOOK))) == FailureFinding("correct")


def test_right_without_evidence_is_from_memory_only_if_no_passage_says_it() -> None:
    assert found(case(record("Mirelle Ostrand", ("d1",)))) == FailureFinding("answered_without_evidence")
    assert found(case(record("Mirelle Ostrand", ("d1", "d3")))) == FailureFinding("correct")
    assert found(case(record("Mirelle Ostrand", ("d4",)), supporting_ids=(), hop_order=None)) == FailureFinding(
        "correct"
    )
    assert found(case(record("Mirelle Ostrand", ("elsewhere",)))) == FailureFinding("correct")


@pytest.mark.parametrize(
    "text", ["It is governed by Mirelle Ostrand.", "the governor Ostrand", "Mirelle Ostrand, mayor"]
)
def test_right_in_another_form_is_form(text: str) -> None:
    for used in ((), ("d1", "d2")):
        assert found(case(record(text, used))) == FailureFinding("format_only")


def test_an_answer_that_only_repeats_the_question_is_not_right_in_another_form() -> None:
    """Question 1 asks about the Orlen Weir, and a wide alias may be just that."""
    gold = ("Mirelle Ostrand", "Orlen Weir")
    assert found(case(record("the Orlen Weir near its source"), answers=gold)).failure != "format_only"
    assert found(case(record("at the Orlen Weir, Mirelle Ostrand"), answers=gold)) == FailureFinding("format_only")


def test_nearly_all_of_a_long_name_is_form() -> None:
    gold = ("Royal Guild of Glassblowers",)
    assert found(case(record("Guild of Glassblowers"), answers=gold)) == FailureFinding("format_only")
    assert found(case(record("Guild of Weavers"), answers=gold)).failure != "format_only"


def test_the_unanswerable_is_to_be_refused() -> None:
    assert found(case(record("No answer", (), question_id="q5", abstained=True))) == FailureFinding(
        "correct_abstention"
    )
    assert found(case(record("Mirelle Ostrand", ("d2",), question_id="q5"))) == FailureFinding("false_answer")


def test_a_cell_that_writes_nothing_is_asked_for_evidence_only() -> None:
    assert found(case(record(None))) == FailureFinding("evidence_found")
    assert found(case(record(None, ("d1",)))) == FailureFinding("incomplete_chain", 2, "d2")
    assert found(case(record(None, ("d4",), question_id="q5"))) == FailureFinding("unscored")
    assert found(case(record(None, ("d4",)), supporting_ids=(), hop_order=None)) == FailureFinding("unscored")


def test_what_an_allowance_ended_is_stopped_by_it_unless_it_came_out_right() -> None:
    assert found(case(record("Tammerhold", ("d1",), decisions=(SPENT,)))) == FailureFinding("stopped_by_cap", 2, "d2")
    assert found(case(record("Tammerhold", decisions=(SPENT,)))) == FailureFinding("stopped_by_cap")
    assert found(case(record("Ostrand", decisions=(SPENT,)))) == FailureFinding("correct")


@pytest.mark.parametrize("abstained", [False, True])
def test_closed_book_has_no_evidence_to_misread(abstained: bool) -> None:
    assert found(case(record("Sarn", (), of=CLOSED_BOOK, abstained=abstained))) == FailureFinding("not_in_memory")


def test_refusing_with_all_evidence_in_sight_is_false() -> None:
    assert found(case(record("No answer", abstained=True))) == FailureFinding("false_abstention")
    assert found(case(record("No answer", ("d1",), abstained=True))) == FailureFinding("incomplete_chain", 2, "d2")
    nothing_named = case(record("No answer", abstained=True), supporting_ids=(), hop_order=None)
    assert found(nothing_named) == FailureFinding("false_abstention")


@pytest.mark.parametrize(
    ("score", "due", "expected"),
    [
        (Score("answer_accuracy", 0.5), False, "correct"),
        (Score("answer_accuracy", 0.25), True, "hallucination"),
        (Score("answer_accuracy", None, JUDGE_FAILED), False, "judge_failed"),
        (Score("answer_accuracy", None, NOT_JUDGED), True, "judge_failed"),
        (Score("answer_accuracy", None, NOT_JUDGED), False, "unscored"),
        (Score("answer_accuracy", None, ABSTAINED), True, "unscored"),
        (None, True, "judge_failed"),
        (None, False, "unscored"),
    ],
)
def test_of_a_summary_only_the_judge_can_tell(score: Score | None, due: bool, expected: str) -> None:
    summary = case(record("Quarrymen founded Brellin in winter.", ("d2", "d3"), question_id="q4"))
    given_scores = {} if score is None else {score.metric: score}
    assert find_failure(summary, given_scores, due) == FailureFinding(expected)


def test_a_summary_that_was_refused_needs_no_judge() -> None:
    refused = record("No answer", ("d2", "d3"), question_id="q4", abstained=True)
    assert found(case(refused), judge_due=True) == FailureFinding("false_abstention")


IDS = ("d1", "d2", "d3", "d4", "elsewhere")
SUBSETS = st.lists(st.sampled_from(IDS), unique=True, max_size=4).map(tuple)
RETRIEVALS = st.builds(
    lambda found, dropped, beyond: retrieval(*found, dropped=dropped, beyond=beyond), SUBSETS, SUBSETS, SUBSETS
)
DECISIONS = st.lists(
    st.sampled_from(
        [
            SPENT,
            Decision("classify", "A"),
            Decision("classify", "B"),
            Decision("exit", "cap", changed=("answer",)),
            Decision("collect", "full"),
        ]
    ),
    max_size=3,
).map(tuple)


@given(
    st.sampled_from(sorted(ASKED)),
    st.sampled_from([None, "", "Tammerhold", "Mirelle Ostrand", "the Sarn estuary in 1871", "yes", "Brellin"]),
    SUBSETS,
    st.lists(RETRIEVALS, max_size=3),
    DECISIONS,
    st.booleans(),
    st.sampled_from([None, CLOSED_BOOK]),
    st.booleans(),
)
def test_every_question_has_one_class_of_the_table(
    question_id: str,
    text: str | None,
    used: tuple[str, ...],
    made: list[Retrieval],
    decisions: tuple[Decision, ...],
    abstained: bool,
    of: Cell | None,
    due: bool,
) -> None:
    made_record = record(
        text, used, *made, question_id=question_id, decisions=decisions, abstained=abstained and text is not None, of=of
    )
    one = case(replace(made_record, retrievals=tuple(made)))
    finding = find_failure(one, scores(one), due)
    assert failure_classes()[finding.failure].name == finding.failure
    assert finding == find_failure(one, scores(one), due)
    if finding.doc_id is not None:
        assert finding.doc_id in one.gold.supporting_ids
        assert finding.doc_id not in used
    right = {name: score.value for name, score in scores(one).items()}.get("answer_em") == 1.0
    assert right == (finding.failure in ("correct", "answered_without_evidence"))


def test_what_the_models_window_has_no_room_for_is_no_graders_fault() -> None:
    asked = failed("q1")
    assert not had_no_room(asked)
    assert had_no_room(replace(asked, decisions=(Decision(FIT, "dropped", 1.0, 5.0, changed=("evidence",)),)))
