from __future__ import annotations

import pytest
from rich.cells import cell_len

from arena.leaderboard.build import Leaderboard
from arena.report.names import marks_of
from arena.report.section import rows_of
from arena.report.sections.comparisons import comparisons
from arena.report.text import Rows
from tests.samples import cell
from tests.unit.leaderboard.boards import board, printed, row
from tests.unit.leaderboard.contests import MIDDLING, board_of, run_of, three_cells


def shown(leaderboard: Leaderboard, width: int = 100, *, terminal: bool = False) -> str:
    return printed(comparisons(leaderboard, marks_of(leaderboard)), width, terminal=terminal)


def first_table(leaderboard: Leaderboard) -> Rows:
    section = comparisons(leaderboard, marks_of(leaderboard))
    assert section is not None
    assert section.blocks[0].heading == ("Answer F1",)
    assert section.blocks[0].grid is not None
    return rows_of(section.blocks[0].grid)


def test_few_pairs_are_all_shown_with_difference_interval_and_p() -> None:
    content = first_table(board_of(*three_cells()))
    assert content.headings == ("cell", "minus", "n", "difference", "95% interval", "p (Holm)")
    assert [cells[:2] for cells in content.rows] == [
        ("good + dense", "middling + dense"),
        ("good + dense", "poor + dense"),
        ("middling + dense", "poor + dense"),
    ]
    assert content.rows[1][2:4] == ("60", "+0.67")
    assert content.rows[1][5] == "<0.001"


def test_of_many_pairs_those_with_the_best_cell_are_shown_from_its_side() -> None:
    records = [one for n in range(5) for one in run_of(cell(f"s{n}"), range(10 * (n + 1)).__contains__)]
    content = first_table(board_of(*records))
    assert [cells[:2] for cells in content.rows] == [("s4 + dense", f"s{n} + dense") for n in range(4)]
    assert all(cells[3].startswith("+") and cells[4].startswith("+") for cells in content.rows)


def test_the_heading_counts_what_differs_by_more_than_chance() -> None:
    text = shown(board_of(*three_cells()), 200)
    assert "Answer F1: 2 of 3 pairs are shown to differ by more than chance.\ncell" in text
    assert "Recall: 0 of 3 pairs are shown to differ by more than chance.\nFull" in text


def test_how_it_was_tested_is_said_once_and_a_family_of_none_or_one_in_words() -> None:
    text = shown(board_of(*three_cells()), 200)
    assert text.count("Holm over all pairs") == 1
    good, poor = run_of(cell("a"), lambda place: place < 50), run_of(cell("b"), lambda place: place < 5)
    assert "Answer F1: The two cells are shown to differ by more than chance." in shown(board_of(*good, *poor), 200)
    assert "Recall: The two cells are not shown to differ by more than chance." in shown(board_of(*good, *poor), 200)
    assert "Answer F1: No two cells can be compared: fewer than 2 questions have a score in both" in shown(
        board_of(good[0], poor[0]), 200
    )
    lost = run_of(cell("b"), lambda place: True, lost=lambda place: True)
    assert "Answer F1: No two cells can be compared: at most one is neither withheld nor invalid" in shown(
        board_of(*good, *lost), 200
    )


def test_who_does_not_compete_is_named_with_the_reason() -> None:
    patchy = run_of(MIDDLING, lambda place: True, lost=lambda place: place % 5 == 0)
    records = [one for one in three_cells() if one.cell != MIDDLING]
    assert "middling + dense does not compete: coverage 80.0% is under 95%." in shown(board_of(*records, *patchy))


@pytest.mark.parametrize("width", [40, 80])
def test_a_terminal_shows_every_figure_whole(width: int) -> None:
    text = shown(board_of(*three_cells()), width, terminal=True)
    assert "…" not in text
    assert "+0.67" in text
    if width == 80:
        assert all(cell_len(line) <= width for line in text.splitlines())


def test_a_board_without_comparisons_shows_nothing() -> None:
    assert shown(board(row())) == ""
