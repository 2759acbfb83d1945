"""A table of figures and the sentences below it, on a terminal of any width or in a pipe."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from arena.report.text import natural_chars
from experiments.terminal.console import Console


def print_table(table: Table, notes: Iterable[str], console: Console) -> None:
    """Print both. A pipe or file gets every column at its natural width."""
    if not console.is_terminal:
        console = type(console)(file=console.file, width=max(console.width, natural_chars(table, console)))
    console.print(table)
    for note in notes:
        console.print(note, markup=False, highlight=False, style="dim", soft_wrap=True)
