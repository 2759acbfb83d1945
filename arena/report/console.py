"""A leaderboard in a terminal and as Markdown. A figure is never shortened or wrapped: columns go before figures do."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.leaderboard.build import Leaderboard
from arena.report.names import Mark, marks_of
from arena.report.section import Section, print_section
from arena.report.sections.breakdown import breakdown, gap
from arena.report.sections.comparisons import comparisons
from arena.report.sections.contamination import contamination
from arena.report.sections.controllers import controllers
from arena.report.sections.failures import diagnosis, failures
from arena.report.sections.judges import abstention, judges
from arena.report.sections.leaderboard import Column, columns_of, leaderboard_rows, narrowings
from arena.report.sections.limits import caption, legend, notes
from arena.report.text import markdown_table, natural_chars, text_blocks, text_table


def print_leaderboard(board: Leaderboard, console: Console) -> None:
    """Print the table and how to read it. Names come from data and are never taken for markup.

    A file or pipe gets all columns at their natural width. A terminal gets those that fit, dropped in the order that
    `sections.leaderboard.COLUMNS` documents; where not even those that stay do, one block of lines per cell.
    """
    title = Text(f"{caption(board)}; run {board.run_id}", style="bold")
    if not console.is_terminal:
        table = text_table(leaderboard_rows(board))
        console = type(console)(file=console.file, width=max(console.width, natural_chars(table, console)))
        _print(board, console, title, table, ())
        return
    columns = columns_of(board)
    for kept in narrowings(columns):
        dropped = [column for column in columns if column not in kept]
        for broken in (False, True):
            table = text_table(leaderboard_rows(board, kept, broken=broken))
            if natural_chars(table, console) <= console.width:
                _print(board, console, title, table, dropped)
                return
    _print(board, console, title, Text(text_blocks(leaderboard_rows(board, kept))), dropped)


def _print(board: Leaderboard, console: Console, title: Text, body: Table | Text, dropped: Sequence[Column]) -> None:
    console.print(title)
    console.print(body, soft_wrap=isinstance(body, Text))
    console.print(Text(legend(board), style="dim"))
    for note in notes(board, dropped):
        console.print(Text(note))


_SPECIAL = str.maketrans({"|": "\\|", "*": "\\*", "<": "&lt;", "&": "&amp;"})


def render_markdown(board: Leaderboard) -> str:
    """A table, what was measured and how to read it.

    Nothing in a name makes HTML, a link, a cell, a line or stress of its own.
    """
    footer = [f"{caption(board)}; run `{board.fingerprint}`.", legend(board), *notes(board)]
    return "\n".join([markdown_table(leaderboard_rows(board), _escaped), "", _escaped(" ".join(footer))])


def _escaped(text: str) -> str:
    return " ".join(text.replace("](", "]\\(").translate(_SPECIAL).splitlines())


def sections_of(board: Leaderboard, marks: Sequence[Mark]) -> dict[str, Section | None]:
    """All topics, in the order in which one asks; None where there is nothing to say.

    Which differences count, and how far that is memory; why answers fail, and where to act; what controllers and judges
    did; the same by kind and hops.
    """
    return {
        "comparisons": comparisons(board, marks),
        "gap": gap(board, marks),
        "contamination": contamination(board, marks),
        "abstention": abstention(board, marks),
        "failures": failures(board, marks),
        "diagnosis": diagnosis(board, marks),
        "controllers": controllers(board, marks),
        "judges": judges(board),
        "breakdown": breakdown(board, marks),
    }


def print_details(board: Leaderboard, console: Console) -> None:
    """All sections that have anything to say."""
    for section in sections_of(board, marks_of(board)).values():
        print_section(section, console)
