"""The leaderboard in a terminal. A figure is never shortened or wrapped: columns go before figures do."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.report.leaderboard import Leaderboard
from arena.report.legend import caption, legend, notes
from arena.report.rows import Column, Rows, columns_of, leaderboard_rows, narrowings

_UNBOUNDED_CHARS = 10_000


def print_leaderboard(board: Leaderboard, console: Console) -> None:
    """Print the table and how to read it. Names come from data and are never taken for markup.

    A file or pipe gets all columns at their natural width. A terminal gets those that fit, dropped in the order that
    `rows.COLUMNS` documents; where not even those that stay do, one block of lines per cell.
    """
    title = Text(f"{caption(board)}; run {board.run_id}", style="bold")
    if not console.is_terminal:
        table = _table(leaderboard_rows(board))
        console = Console(file=console.file, width=max(console.width, _natural_chars(table, console)))
        _print(board, console, title, table, ())
        return
    columns = columns_of(board)
    for kept in narrowings(columns):
        dropped = [column for column in columns if column not in kept]
        for joint in (" ", "\n"):
            table = _table(leaderboard_rows(board, kept, joint=joint))
            if _natural_chars(table, console) <= console.width:
                _print(board, console, title, table, dropped)
                return
    _print(board, console, title, _blocks(leaderboard_rows(board, kept)), dropped)


def _print(board: Leaderboard, console: Console, title: Text, body: Table | Text, dropped: Sequence[Column]) -> None:
    console.print(title)
    console.print(body, soft_wrap=isinstance(body, Text))
    console.print(Text(legend(board), style="dim"))
    for note in notes(board, dropped):
        console.print(Text(note))


def _table(content: Rows) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, heading in enumerate(content.headings):
        table.add_column(heading, justify="left" if place < content.n_names else "right", no_wrap=True)
    for row in content.rows:
        table.add_row(*map(Text, row))
    return table


def _blocks(content: Rows) -> Text:
    """One block per cell: its names, then a line per figure."""
    labels = content.headings[content.n_names :]
    width = max(map(len, labels), default=0)
    lines = []
    for row in content.rows:
        lines.append(" ".join(name for name in row[: content.n_names] if name))
        lines += [f"  {label:{width}}  {text}" for label, text in zip(labels, row[content.n_names :], strict=True)]
    return Text("\n".join(lines))


def _natural_chars(table: Table, console: Console) -> int:
    """Width of `table` with nothing shortened."""
    return console.measure(table, options=console.options.update(max_width=_UNBOUNDED_CHARS)).maximum
