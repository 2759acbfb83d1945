"""The symptoms of the cells, below the leaderboard."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from arena.report.diagnosis import Symptom
from arena.report.leaderboard import Leaderboard
from arena.report.text_table import Part, print_parts
from arena.report.titles import short_names

_LEGEND = "Diagnosis: what the figures of a cell, taken together, are symptoms of. Thresholds: docs/failures.md."


def print_diagnosis(board: Leaderboard, console: Console) -> None:
    """Each symptom once, with the cells that have it and the figures that show it; nothing for a board without any.

    Names come from data and are never taken for markup.
    """
    names = short_names(board)
    cells: dict[str, list[str]] = {}
    for cell in board.cells:
        for symptom in cell.diagnosis:
            cells.setdefault(symptom_text(symptom), []).append(f"{names[cell.cell]}: {figures_text(symptom)}")
    parts: list[Part] = [Text(_LEGEND, style="dim")]
    for text, ailing in cells.items():
        parts += [Text(text), *ailing]
    if cells:
        print_parts(parts, console)


def symptom_text(symptom: Symptom) -> str:
    """As in `noisy_context: reading Act on: remedy`, with the whole sentences."""
    return f"{symptom.name}: {symptom.reading} Act on: {symptom.where_to_act}"


def figures_text(symptom: Symptom) -> str:
    """As in `retrieval_recall 0.90, mrr 0.31`."""
    return ", ".join(f"{metric} {value:.2f}" for metric, value in symptom.figures.items())
