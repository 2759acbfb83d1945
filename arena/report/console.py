"""The leaderboard in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.report.leaderboard import Leaderboard
from arena.report.rows import leaderboard_rows, legend

WIDE_CHARS = 150
"""A terminal narrower than this gets the main columns only; a file or pipe gets all."""


def print_leaderboard(board: Leaderboard, console: Console) -> None:
    """Print the table and how to read it. Names come from data and are never taken for markup."""
    wide = not console.is_terminal or console.width >= WIDE_CHARS
    if not console.is_terminal:
        console = Console(file=console.file, width=max(console.width, WIDE_CHARS + 20))
    content = leaderboard_rows(board, wide=wide)
    title = f"{board.dataset.name}: {board.dataset.n_documents:,} documents, run {board.run_id}"
    table = Table(title=Text(title), title_justify="left")
    for place, heading in enumerate(content.headings):
        table.add_column(heading, justify="left" if place < 2 else "right", no_wrap=True)
    for row in content.rows:
        table.add_row(*map(Text, row))
    console.print(table)
    console.print(Text(legend(board), style="dim"))
