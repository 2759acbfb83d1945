"""The list of all questions, and every answer: what is searched and filtered before any chunk is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.report.page.explorer.columns import Cut, Vocabulary, planes
from arena.report.page.explorer.tables import OUTCOMES
from arena.scoring import CellScores, ScoreTable
from arena.types import Dataset, Question


def questions_of(table: ScoreTable, dataset: Dataset) -> list[Question]:
    """The questions that any cell has a record of, in the order of the dataset."""
    asked = {question_id for cell in table.cells for question_id in cell.scores}
    return [question for question in dataset.questions if question.question_id in asked]


def written_list(table: ScoreTable, questions: Sequence[Question], dataset: Dataset, chars: int) -> dict[str, Any]:
    """Per question its id, text, kind, hops, shape and gold answers, each text cut to `chars` characters.

    `outcome` and `finding`: question by question through the cells, the place in `OUTCOMES` and in `findings`; None
    where a cell has no record.
    """
    findings, pairs = Vocabulary(), [(cell, one.question_id) for one in questions for cell in table.cells]
    return {
        "id": [question.question_id for question in questions],
        "text": [_cut(question.text, chars) for question in questions],
        "kind": [question.kind for question in questions],
        "hops": planes(question.hops for question in questions),
        "shape": [question.hop_shape for question in questions],
        "gold": [[_cut(one, chars) for one in dataset.gold[question.question_id].answers] for question in questions],
        "answerable": planes(int(dataset.gold[question.question_id].answerable) for question in questions),
        "outcome": planes(_outcome(cell, question_id) for cell, question_id in pairs),
        "finding": planes(findings.number(_finding(cell, question_id)) for cell, question_id in pairs),
        "findings": findings.written(),
    }


class Answers:
    """Every answer of every cell; the distinct ones are held once."""

    def __init__(self, table: ScoreTable, questions: Sequence[Question]) -> None:
        self._distinct = Vocabulary()
        answers = (cell.answers.get(one.question_id) for one in questions for cell in table.cells)
        self._numbers = planes([self._distinct.number(answer) for answer in answers])

    def written(self, chars: int | None) -> dict[str, Any]:
        """Distinct answers, cut to `chars` characters (None: whole), and the number of each, as in `written_list`."""
        texts: list[Cut] = self._distinct.written(chars)
        return {"texts": texts, "number": self._numbers}


def _cut(text: str, chars: int) -> Cut:
    return text if len(text) <= chars else (text[:chars], len(text) - chars)


def _outcome(cell: CellScores, question_id: str) -> int | None:
    usage = cell.usage.get(question_id)
    return OUTCOMES.index(usage.outcome) if usage else None


def _finding(cell: CellScores, question_id: str) -> str | None:
    found = cell.failures.get(question_id)
    return found.failure if found else None
