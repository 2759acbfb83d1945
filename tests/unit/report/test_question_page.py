from __future__ import annotations

from dataclasses import replace

import pytest

from arena.judges.subject import subject_of
from arena.metrics.case import Case
from arena.report.question import CellPage, QuestionPage, current_verdicts, gold_documents, use_of
from arena.scoring import score_records
from arena.types import Score, Verdict
from tests.samples import DOCUMENTS, GOLD, QUESTIONS, answered, small_dataset

RECORD = answered("q1", "Mirelle Ostrand", ("d2", "d4"))
BY_ID = {one.doc_id: one for one in DOCUMENTS}


def page() -> QuestionPage:
    table = score_records([RECORD], small_dataset())
    cell = CellPage.of(RECORD, table.cells[0], None)
    return QuestionPage(QUESTIONS[0], GOLD["q1"], gold_documents(GOLD["q1"], BY_ID), (cell,))


def test_a_cell_has_what_the_score_table_has_of_its_record() -> None:
    cell = page().cells[0]
    assert {score.metric: score.value for score in cell.scores}["answer_em"] == 1.0
    assert cell.failure_class.name == cell.finding.failure == "correct"
    assert cell.roles[0].role == "generate"
    assert cell.retrieval_seconds == pytest.approx(0.03)


def test_a_record_that_was_not_scored_is_refused() -> None:
    table = score_records([RECORD], small_dataset())
    with pytest.raises(KeyError):
        CellPage.of(replace(RECORD, question_id="q2"), table.cells[0], None)


def test_marks_are_of_the_page_and_the_cell() -> None:
    shown = page()
    second, other = (use_of(one, shown.gold_documents, shown.cells[0].record.answer) for one in ("d2", "d4"))
    assert second.gold is not None
    assert (second.gold.label, second.used, second.cited) == ("hop 2", True, True)
    assert (other.gold, other.used) == (None, True)


def test_verdicts_on_another_answer_are_not_current() -> None:
    case = Case(RECORD, QUESTIONS[0], GOLD["q1"], BY_ID)
    made = [
        Verdict(RECORD.cell.key, "q1", "faithfulness", "fake:", "judge_0", sha, 0, Score("faithfulness", 1.0))
        for sha in (subject_of(case).sha, "of another answer")
    ]
    assert current_verdicts(case, made) == (made[0],)
