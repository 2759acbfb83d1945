from __future__ import annotations

from arena.leaderboard.build import Leaderboard
from arena.report.names import marks_of
from arena.report.section import entry_text, rows_of
from arena.report.sections.breakdown import breakdown
from tests.unit.leaderboard.boards import board, printed, row
from tests.unit.leaderboard.contests import GOOD, POOR, board_of, run_of


def two_cells() -> Leaderboard:
    return board_of(*run_of(GOOD, lambda place: place % 2 == 0), *run_of(POOR, lambda place: False))


def shown(leaderboard: Leaderboard, width: int) -> str:
    return printed(breakdown(leaderboard, marks_of(leaderboard)), width, terminal=True)


def test_cells_stand_below_each_other_and_values_side_by_side() -> None:
    section = breakdown(two_cells(), marks_of(two_cells()))
    assert section is not None
    tables = {entry_text(one.heading): rows_of(one.grid) for one in section.blocks if one.grid}
    assert list(tables) == [
        "recall by number of hops",
        "answer F1 by number of hops",
        "recall by shape of the chain",
        "answer F1 by shape of the chain",
    ]
    content = tables["answer F1 by number of hops"]
    assert content.headings == ("strategy", "mode", "2", "3")
    assert [cells[0] for cells in content.rows] == ["good", "poor"]
    good, poor = content.rows
    assert (good[2][:4], good[3][:4], poor[2][:4]) == ("1.00", "0.00", "0.00")


def test_no_figure_is_cut() -> None:
    for width in (30, 80):
        text = shown(two_cells(), width)
        assert "…" not in text
        assert "answer F1 by shape of the chain" in " ".join(text.split())
        assert text.count("1.00 .88") >= 2


def test_a_board_of_questions_all_alike_shows_nothing() -> None:
    assert shown(board(row()), 80) == ""
