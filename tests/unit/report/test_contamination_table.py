"""The probe in a terminal and on a page."""

from __future__ import annotations

from arena.leaderboard.build import Leaderboard
from arena.report.names import marks_of
from arena.report.section import Section
from arena.report.sections.contamination import contamination, origin_note
from tests.unit.leaderboard.boards import printed as print_of
from tests.unit.leaderboard.test_contamination import board_of, of_another, one_in_three, right


def section_of(board: Leaderboard) -> Section | None:
    return contamination(board, marks_of(board))


def printed(board: Leaderboard) -> str:
    return print_of(section_of(board), 200)


def test_verdict_table_and_gains_are_printed() -> None:
    text = printed(board_of(one_in_three, right))
    assert "of these answers without documents" in text
    assert "4 hops" in text
    assert "Gain over closed_book" in text
    assert "Left out of the probe:" in text


def test_a_run_that_was_not_probed_has_one_line_and_no_table() -> None:
    text = printed(board_of(None, right))
    assert "not probed; add closed_book" in text
    assert "chance" not in text.replace("anything but chance", "")


def test_nothing_is_printed_of_a_board_without_models() -> None:
    board = board_of(None, right).model_copy(update={"contamination": []})
    assert printed(board) == ""


def test_each_figure_of_the_table_is_quoted_from_the_probe() -> None:
    board = board_of(of_another, right)
    section = section_of(board)
    assert section is not None
    probe, gains = section.blocks
    assert probe.grid is not None
    assert len(probe.grid.rows) == sum(len(group.metrics) for group in board.contamination[0].groups)
    assert gains.grid is not None
    assert len(gains.grid.rows) == 1


def test_what_is_known_of_the_data_is_said() -> None:
    board = board_of(None, right)
    filtered = board.dataset.model_copy(update={"name": "ragrouter:musique"})
    assert "invented" in (origin_note(board) or "")
    assert "by construction" in (origin_note(board.model_copy(update={"dataset": filtered})) or "")
    other = board.dataset.model_copy(update={"name": "jsonl:mine"})
    assert origin_note(board.model_copy(update={"dataset": other})) is None
