"""The leaderboard in a terminal. A figure is never shortened or wrapped: columns go before figures do."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.report.leaderboard import Leaderboard
from arena.report.legend import caption, legend, notes
from arena.report.rows import Column, columns_of, leaderboard_rows, narrowings
from arena.report.text_table import natural_chars, text_blocks, text_table


def print_leaderboard(board: Leaderboard, console: Console) -> None:
    """Print the table and how to read it. Names come from data and are never taken for markup.

    A file or pipe gets all columns at their natural width. A terminal gets those that fit, dropped in the order that
    `rows.COLUMNS` documents; where not even those that stay do, one block of lines per cell.
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
        for joint in (" ", "\n"):
            table = text_table(leaderboard_rows(board, kept, joint=joint))
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
