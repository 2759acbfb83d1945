"""The headline metric of every cell by what was asked, below the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from arena.report.cell_names import names_of
from arena.report.figures import metric_text
from arena.report.leaderboard import Leaderboard
from arena.report.schema import MetricSummary
from arena.report.text_rows import Rows
from arena.report.text_table import print_parts

_SHOWN = ("retrieval_recall", "answer_f1")


def print_breakdown(board: Leaderboard, console: Console) -> None:
    """Print a table per attribute and metric; nothing where all questions are alike."""
    for heading, rows in breakdown_tables(board):
        print_parts((Text(heading, style="bold"), rows), console)


def breakdown_tables(board: Leaderboard) -> Iterator[tuple[str, Rows]]:
    """Heading and rows of each: cells down, values of the attribute across; cells without the metric left out."""
    attributes = dict.fromkeys(name for cell in board.cells for name in cell.breakdown)
    for attribute in attributes:
        for metric in _SHOWN:
            cells = [cell for cell in board.cells if _has(metric, cell.breakdown.get(attribute, {}))]
            if cells:
                values = tuple(dict.fromkeys(value for cell in cells for value in cell.breakdown[attribute]))
                headings, names = names_of(cells)
                rows = tuple(
                    (*named, *(metric_text(cell.breakdown[attribute].get(value, {}).get(metric)) for value in values))
                    for cell, named in zip(cells, names, strict=True)
                )
                yield f"{metric} by {attribute}", Rows((*headings, *values), rows, len(headings))


def _has(metric: str, groups: dict[str, dict[str, MetricSummary]]) -> bool:
    return any(metric in group and group[metric].coverage is not None for group in groups.values())
