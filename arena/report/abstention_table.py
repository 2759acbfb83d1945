"""Who abstains where, below the leaderboard: apart from accuracy, which an abstention cannot raise."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from arena.report.cell_names import names_of
from arena.report.figures import metric_text
from arena.report.leaderboard import CellSummary, Leaderboard
from arena.report.text_rows import Rows
from arena.report.text_table import print_parts

_LEGEND = (
    "Abstention: share of the questions without an answer on which a cell abstained (correct) or answered all the same "
    "(unsupported), and of those with an answer on which it abstained (false)."
)
_SHOWN = {"correct_abstention": "correct", "unsupported_claim": "unsupported", "false_abstention": "false"}


def print_abstention(board: Leaderboard, console: Console) -> None:
    """Print nothing where every question has an answer and no cell abstained."""
    rows = abstention_rows(board)
    if rows.rows:
        print_parts((Text(_LEGEND, style="dim"), rows), console)


def abstention_rows(board: Leaderboard) -> Rows:
    """A row per cell that writes answers."""
    headings, names = names_of(board.cells)
    tempted = any(cell.n_abstained or _is_defined(cell, "correct_abstention") for cell in board.cells)
    rows = tuple(
        (*named, *(metric_text(cell.metrics.get(metric)) for metric in _SHOWN))
        for cell, named in zip(board.cells, names, strict=True)
        if tempted and any(_is_defined(cell, metric) for metric in _SHOWN)
    )
    return Rows((*headings, *_SHOWN.values()), rows, len(headings))


def _is_defined(cell: CellSummary, metric: str) -> bool:
    return metric in cell.metrics and cell.metrics[metric].coverage is not None
