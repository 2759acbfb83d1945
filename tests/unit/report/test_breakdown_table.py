from __future__ import annotations

import io

from rich.console import Console

from arena.leaderboard.build import Leaderboard
from arena.report.sections.breakdown import breakdown_tables, print_breakdown
from tests.unit.leaderboard.boards import board, row
from tests.unit.leaderboard.contests import GOOD, POOR, board_of, run_of


def two_cells() -> Leaderboard:
    return board_of(*run_of(GOOD, lambda place: place % 2 == 0), *run_of(POOR, lambda place: False))


def shown(leaderboard: Leaderboard, width: int) -> str:
    out = io.StringIO()
    print_breakdown(leaderboard, Console(file=out, width=width, force_terminal=True, color_system=None))
    return out.getvalue()


def test_cells_stand_below_each_other_and_values_side_by_side() -> None:
    tables = dict(breakdown_tables(two_cells()))
    assert list(tables) == [
        "retrieval_recall by hops",
        "answer_f1 by hops",
        "retrieval_recall by hop_shape",
        "answer_f1 by hop_shape",
    ]
    content = tables["answer_f1 by hops"]
    assert content.headings == ("strategy", "mode", "2", "3")
    assert [cells[0] for cells in content.rows] == ["good", "poor"]
    good, poor = content.rows
    assert (good[2][:4], good[3][:4], poor[2][:4]) == ("1.00", "0.00", "0.00")


def test_no_figure_is_cut() -> None:
    for width in (30, 80):
        text = shown(two_cells(), width)
        assert "…" not in text
        assert "answer_f1 by hop_shape" in text
        assert text.count("1.00 .88") >= 2


def test_a_board_of_questions_all_alike_shows_nothing() -> None:
    assert shown(board(row()), 80) == ""
