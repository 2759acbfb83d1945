from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from arena.report.console import print_details
from arena.report.text import Part, Rows, print_parts, strips
from tests.unit.leaderboard.boards import board, row

WIDE = Rows(("name", *(f"[b]figure\n{n}" for n in range(12))), (("[i]cell", *["0.123456"] * 12),), 1)
SENTENCE = "Twelve words that go on and on until no line of any terminal holds them. " * 3


def console(width: int, *, terminal: bool) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)


def printed(*parts: Part, width: int = 60, terminal: bool = False) -> list[str]:
    target = console(width, terminal=terminal)
    print_parts(parts, target)
    out = target.file
    assert isinstance(out, io.StringIO)
    return out.getvalue().splitlines()


def test_a_pipe_is_as_wide_as_the_widest_table_needs() -> None:
    blank, heading, *lines = printed(Text("X" * 70), WIDE, "y" * 70)
    assert (blank, heading) == ("", "X" * 70)
    assert lines[0].count("[b]figure") == 12
    assert lines[3].split() == ["[i]cell", *["0.123456"] * 12]
    assert lines[-1] == "  " + "y" * 70


def test_a_terminal_gets_a_block_for_each_row_that_does_not_fit() -> None:
    lines = printed(WIDE, terminal=True)
    assert lines[1] == "[i]cell"
    assert lines[2].split() == ["[b]figure", "0", "0.123456"]
    assert len(lines) == 14


@pytest.mark.parametrize("terminal", [True, False])
def test_a_note_is_set_in_and_hangs(terminal: bool) -> None:
    _, first, *others = printed(SENTENCE, terminal=terminal)
    assert first.startswith("  Twelve")
    assert others
    assert all(line.startswith("    ") and line[4] != " " for line in others)
    assert all(len(line) <= 60 and line == line.rstrip() for line in (first, *others))
    assert " ".join(" ".join((first, *others)).split()) == SENTENCE.strip()


def test_strips_hold_every_figure_once_and_fit() -> None:
    cut = strips(WIDE, console(60, terminal=True))
    assert all(one.headings[0] == "name" and one.n_names == 1 for one in cut)
    assert tuple(heading for one in cut for heading in one.headings[1:]) == WIDE.headings[1:]
    assert len(cut) > 1
    assert all(cell_len(line) <= 60 for line in printed(*cut, terminal=True))
    assert strips(WIDE, console(60, terminal=False)) == [WIDE]
    assert len(strips(WIDE, console(5, terminal=True))) == 12


def test_a_board_with_nothing_beside_its_table_has_no_details() -> None:
    target = console(80, terminal=False)
    print_details(board(row()), target)
    assert isinstance(target.file, io.StringIO)
    assert target.file.getvalue() == ""
