"""How far each reader gets from knowing by heart to reading the gold, below the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from arena.report.cell_names import names_of
from arena.report.figures import signed_interval_text, signed_text
from arena.report.leaderboard import Leaderboard
from arena.report.text_rows import Rows
from arena.report.text_table import Part, print_parts
from arena.report.titles import short_names

_LEGEND = (
    "Gap: share of the way from closed_book (0) to oracle (1) in answer F1, on the questions that all three have a "
    "score for, with its 95% interval (paired bootstrap), and that share per 1,000 tokens of a question."
)


def print_gaps(board: Leaderboard, console: Console) -> None:
    """Print nothing for a board without controls. Names come from data and are never taken for markup."""
    rows, notes = gap_rows(board), list(gap_notes(board))
    parts: list[Part] = [Text(_LEGEND, style="dim"), *([rows] if rows.rows else []), *notes]
    if rows.rows or notes:
        print_parts(parts, console)


def gap_rows(board: Leaderboard) -> Rows:
    """A row per cell between the controls whose share is known."""
    headings, names = names_of(board.cells)
    rows = tuple(
        (
            *named,
            f"{cell.gap.n:,}",
            signed_text(cell.gap.recovered),
            signed_interval_text(cell.gap.ci_low, cell.gap.ci_high),
            signed_text(cell.gap.per_thousand_tokens),
        )
        for cell, named in zip(board.cells, names, strict=True)
        if cell.gap is not None and cell.gap.withheld is None
    )
    return Rows((*headings, "n", "recovered", "95% interval", "per 1,000 tokens"), rows, len(headings))


def gap_notes(board: Leaderboard) -> Iterator[str]:
    """A sentence per reason why shares are withheld, with the cells that it concerns."""
    names = short_names(board)
    withheld: dict[str, list[str]] = {}
    for cell in board.cells:
        if cell.gap is not None and cell.gap.withheld is not None:
            withheld.setdefault(cell.gap.withheld, []).append(names[cell.cell])
    for reason, cells in withheld.items():
        yield f"withheld, {reason}: {', '.join(cells)}."
