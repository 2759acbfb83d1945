"""What an answer says against what it was shown, and when a record has no such score."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena.metrics import METRICS, Case
from arena.metrics import case as reasons
from arena.types import NO_RETRIEVAL_MODE, Answer, Cell, Document, Gold, RunRecord, ShownDocument
from tests.samples import DOCUMENTS, GOLD, QUESTIONS, answered, failed, shown_whole

LEXICAL = ("lexical_faithfulness", "lexical_citation_recall", "lexical_citation_precision")
STATEMENTS = (*LEXICAL, "uncited_statements")
GIVEN = {document.doc_id: document for document in DOCUMENTS}
SEEN = (("d2",), ("d2",), (), (shown_whole("d2"),))
INVENTED = "Aslan of Narnia"
CLOSED = Cell("closed_book", NO_RETRIEVAL_MODE, "fake:")


def scores(record: RunRecord, *names: str, number: int = 0) -> list[float | str | None]:
    """Values, and reasons where there is none, on one of the sample questions."""
    question = QUESTIONS[number]
    case = Case(record, question, GOLD[question.question_id], GIVEN)
    found = [METRICS[name].score(case) for name in names]
    return [one.reason if one.value is None else one.value for one in found]


def test_an_answer_from_the_passages_is_lexically_faithful() -> None:
    record = answered("q1", "Mirelle Ostrand governs Tammerhold.", ("d2", "d1"))
    assert scores(record, *STATEMENTS) == [1.0, 1.0, 1.0, 0.0]


def test_the_right_passages_uncited_and_the_wrong_one_cited() -> None:
    record = answered("q1", "Mirelle Ostrand governs Tammerhold.", ("d4", "d2"))
    assert scores(record, *STATEMENTS) == [1.0, 0.0, 0.0, 0.0]


def test_without_citations_precision_is_undefined_and_recall_zero() -> None:
    record = replace(answered("q1", ""), answer=Answer("Mirelle Ostrand", False, *SEEN))
    assert scores(record, *STATEMENTS) == [1.0, 0.0, reasons.NO_CITATIONS, 1.0]


def test_an_invented_answer_from_an_empty_context_scores_zero() -> None:
    assert scores(answered("q1", INVENTED), *STATEMENTS) == [0.0, 0.0, reasons.NO_CITATIONS, 1.0]


@pytest.mark.parametrize("number", [0, 4])
def test_an_abstention_claims_nothing(number: int) -> None:
    record = answered("q1", "I don't know", ("d1",), abstained=True)
    assert scores(record, *STATEMENTS, number=number) == [reasons.ABSTAINED] * 4


def test_an_answer_of_stop_words_states_nothing() -> None:
    assert scores(answered("q1", "It is so.", ("d1",)), *STATEMENTS) == [reasons.NO_CONTENT] * 4


def test_a_shown_text_that_is_not_known_is_missing() -> None:
    record = answered("q1", "Mirelle Ostrand", ("d2", "https://example.org/"))
    assert scores(record, *STATEMENTS) == [reasons.TEXT_UNKNOWN] * 3 + [0.0]


def test_of_a_document_in_parts_only_those_that_were_shown_count() -> None:
    document = Document("d2", "Tammerhold", "It is governed by Mirelle Ostrand. It lies high.")
    record = answered("q1", "Mirelle Ostrand", ("d2",))
    assert record.answer is not None
    for spans, expected in ((((35, 48),), 0.0), (((0, 34),), 1.0), (((35, 48), (0, 34)), 1.0)):
        answer = replace(record.answer, shown=(ShownDocument("d2", spans),))
        case = Case(replace(record, answer=answer), QUESTIONS[0], GOLD["q1"], {"d2": document})
        assert METRICS["lexical_faithfulness"].score(case).value == expected


def test_a_text_that_the_record_keeps_is_what_was_shown() -> None:
    record = answered("q1", "Mirelle Ostrand", ("https://example.org/",))
    assert record.answer is not None
    for text, expected in (("Rolls\nMirelle Ostrand governs.", 1.0), ("Rolls\nNobody governs.", 0.0)):
        answer = replace(record.answer, shown=(ShownDocument("https://example.org/", text=text),))
        assert scores(replace(record, answer=answer), "lexical_faithfulness") == [expected]


def test_a_record_that_does_not_say_what_was_shown_has_no_score_on_the_texts() -> None:
    record = answered("q1", "Mirelle Ostrand", ("d2",))
    assert record.answer is not None
    old = replace(record, answer=replace(record.answer, shown=None))
    assert scores(old, *STATEMENTS) == [reasons.TEXT_UNKNOWN] * 3 + [0.0]


def test_a_citation_of_what_was_not_shown_carries_nothing() -> None:
    record = answered("q1", "Mirelle Ostrand", ("d2",))
    for cited, expected in (("d2", "d4"), 0.5), (("d4",), 0.0), (("d2", "d2"), 1.0):
        answer = replace(Answer("Mirelle Ostrand", False, *SEEN), cited_ids=cited)
        citing = replace(record, answer=answer)
        assert scores(citing, "lexical_citation_precision") == [expected]


def test_a_failure_is_missing_and_a_control_undefined() -> None:
    assert scores(failed("q1"), *STATEMENTS) == [reasons.FAILED] * 4
    for record in (answered("q1", INVENTED, of=CLOSED), failed("q1", of=CLOSED)):
        assert scores(record, *STATEMENTS) == [reasons.NO_RETRIEVAL] * 4
    cell = Cell("retrieval_only", "dense", None)
    silent = replace(answered("q1", "", ("d1",), of=cell), answer=Answer(None, False, ("d1",), ("d1",)))
    for record in (silent, failed("q1", of=cell)):
        assert scores(record, *STATEMENTS) == [reasons.NO_ANSWER_BY_DESIGN] * 4


def test_a_summary_is_scored_by_its_longest_common_subsequence() -> None:
    same = answered("q4", GOLD["q4"].answers[0].upper(), ("d2",))
    assert scores(same, "rouge_l", number=3) == [1.0]
    assert scores(answered("q4", "I don't know", abstained=True), "rouge_l", number=3) == [0.0]
    assert scores(failed("q4"), "rouge_l", number=3) == [reasons.FAILED]
    assert scores(same, "rouge_l") == [reasons.NOT_A_SUMMARY]
    assert scores(same, "rouge_l", number=4) == [reasons.UNANSWERABLE]


def test_an_unanswerable_question_can_be_answered_from_its_passages() -> None:
    case = Case(answered("q5", "Mirelle Ostrand", ("d2",)), QUESTIONS[4], Gold("q5", (), (), answerable=False), GIVEN)
    assert METRICS["lexical_faithfulness"].score(case).value == 1.0
