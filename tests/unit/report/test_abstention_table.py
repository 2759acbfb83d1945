from __future__ import annotations

from arena.leaderboard.build import Leaderboard
from arena.report.names import marks_of
from arena.report.section import rows_of
from arena.report.sections.judges import abstention
from arena.report.text import Rows
from tests.unit.leaderboard.boards import NOT_DEFINED, SOUND, board, printed, row


def of(name: str, correct: bool, *, abstained: int = 0) -> Leaderboard:
    cell = row(name, "dense", abstained=abstained)
    known = SOUND if correct else NOT_DEFINED
    abstention = {"correct_abstention": known, "unsupported_claim": known, "false_abstention": SOUND}
    return board(cell.model_copy(update={"metrics": abstention}), row("retrieval_only"))


def rows(leaderboard: Leaderboard) -> Rows | None:
    section = abstention(leaderboard, marks_of(leaderboard))
    return rows_of(section.blocks[0].grid) if section and section.blocks[0].grid else None


def test_a_row_for_each_cell_that_writes() -> None:
    content = rows(of("vanilla", correct=True))
    assert content is not None
    assert content.headings == ("strategy", "mode", "correct", "unsupported", "false")
    assert content.rows == (("vanilla", "dense", *["0.56 .49–.63"] * 3),)


def test_where_every_question_has_an_answer_only_abstaining_is_worth_a_word() -> None:
    assert rows(of("vanilla", correct=False)) is None
    content = rows(of("vanilla", correct=False, abstained=2))
    assert content is not None
    assert content.rows == (("vanilla", "dense", "–", "–", "0.56 .49–.63"),)


def test_nothing_to_say_prints_nothing() -> None:
    assert printed(abstention(board(row()), marks_of(board(row())))) == ""
