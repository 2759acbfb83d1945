"""What became of the questions, as stacked bars and a table; and the symptoms of the cells, with where to act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.metrics.failures import CLASSES
from arena.report.failures_table import class_notes
from arena.report.leaderboard import Leaderboard
from arena.report.page.grids import Entry, Grid
from arena.report.page.marks import Mark
from arena.report.page.quoted import Phrase, Quotes, path_of
from arena.report.page.wording import metric_name

STAGES = ("system", "controller", "retrieval", "reader", "form", "untold", "right")
"""In waterfall order; each has a colour and a pattern in the figure."""


@dataclass(frozen=True, slots=True)
class FailuresView:
    """`grid`: classes across, cells down; `notes`: what each class means."""

    grid: Grid
    notes: tuple[str, ...]
    figure: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SymptomView:
    """One symptom, and the cells that have it, each with the figures that show it."""

    name: str
    reading: str
    where_to_act: str
    cells: tuple[tuple[Mark, Phrase], ...]


def failures_view(board: Leaderboard, marks: Sequence[Mark]) -> FailuresView | None:
    """None for a board without waterfalls."""
    shown = [mark for mark in marks if (failures := board.cells[mark.place].failures) and failures.counts]
    if not shown:
        return None
    quotes = Quotes(board)
    places = {mark.place: _places(board, mark.place) for mark in shown}
    names = dict.fromkeys(name for found in places.values() for name in found)
    classes = [*(name for name in CLASSES if name in names), *(name for name in names if name not in CLASSES)]
    rows: list[tuple[Entry, ...]] = [
        (
            mark,
            *(
                quotes.quote("count", path_of("cells", mark.place, "failures", "counts", places[mark.place][name], "n"))
                if name in places[mark.place]
                else "\N{MIDDLE DOT}"
                for name in classes
            ),
            quotes.quote(
                "counts",
                *(
                    path_of("cells", mark.place, "failures", "counts", number, "n")
                    for number in places[mark.place].values()
                ),
            ),
        )
        for mark in shown
    ]
    figure = {
        "cells": [mark.place for mark in shown],
        "classes": [
            {
                "name": name,
                "stage": CLASSES[name].stage if name in CLASSES else "untold",
                "counts": [_count(board, mark.place, name) for mark in shown],
            }
            for name in classes
        ],
    }
    return FailuresView(
        Grid(("cell", *(name.replace("_", " ") for name in classes), "all"), tuple(rows)),
        tuple(class_notes(board)),
        figure,
    )


def symptoms_view(board: Leaderboard, marks: Sequence[Mark]) -> tuple[SymptomView, ...]:
    """Each symptom once, in the order in which cells have them."""
    quotes = Quotes(board)
    found: dict[tuple[str, str, str], list[tuple[Mark, Phrase]]] = {}
    for mark in marks:
        for number, symptom in enumerate(board.cells[mark.place].diagnosis):
            figures = [
                part
                for place, metric in enumerate(symptom.figures)
                for part in (
                    f"{', ' if place else ''}{metric_name(metric)} ",
                    quotes.quote("ratio", path_of("cells", mark.place, "diagnosis", number, "figures", metric)),
                )
            ]
            key = (symptom.name, symptom.reading, symptom.where_to_act)
            found.setdefault(key, []).append((mark, tuple(figures)))
    return tuple(SymptomView(*key, tuple(cells)) for key, cells in found.items())


def _places(board: Leaderboard, place: int) -> dict[str, int]:
    """Class -> its place among the counts of a cell."""
    failures = board.cells[place].failures
    return {one.failure: number for number, one in enumerate(failures.counts)} if failures else {}


def _count(board: Leaderboard, place: int, name: str) -> int:
    failures = board.cells[place].failures
    return next((one.n for one in failures.counts if one.failure == name), 0) if failures else 0
