from __future__ import annotations

import io

from rich.console import Console

from arena.leaderboard.build import Leaderboard
from arena.report.sections.judges import abstention_rows, print_abstention
from tests.unit.leaderboard.boards import NOT_DEFINED, SOUND, board, row


def of(name: str, correct: bool, *, abstained: int = 0) -> Leaderboard:
    cell = row(name, "dense", abstained=abstained)
    known = SOUND if correct else NOT_DEFINED
    abstention = {"correct_abstention": known, "unsupported_claim": known, "false_abstention": SOUND}
    return board(cell.model_copy(update={"metrics": abstention}), row("retrieval_only"))


def test_a_row_for_each_cell_that_writes() -> None:
    content = abstention_rows(of("vanilla", correct=True))
    assert content.headings == ("strategy", "mode", "correct", "unsupported", "false")
    assert content.rows == (("vanilla", "dense", *["0.56 .49–.63"] * 3),)


def test_where_every_question_has_an_answer_only_abstaining_is_worth_a_word() -> None:
    assert abstention_rows(of("vanilla", correct=False)).rows == ()
    assert abstention_rows(of("vanilla", correct=False, abstained=2)).rows == (
        ("vanilla", "dense", "–", "–", "0.56 .49–.63"),
    )


def test_nothing_to_say_prints_nothing() -> None:
    out = io.StringIO()
    print_abstention(board(row()), Console(file=out))
    assert out.getvalue() == ""
    print_abstention(of("vanilla", correct=True), Console(file=out))
    assert "Abstention:" in out.getvalue()
