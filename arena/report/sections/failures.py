"""What became of the questions: classes down, cells across, and below what each class means.

The symptoms of the cells, below the leaderboard.

What became of the questions, as stacked bars and a table; and the symptoms of the cells, with where to act.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.diagnosis import FailureSummary, Symptom
from arena.metrics.failures import CLASSES
from arena.report.figures import Phrase, Quotes, path_of
from arena.report.names import Mark, metric_name, names_of, short_names
from arena.report.section import Entry, Grid
from arena.report.text import Part, Rows, print_parts, strips

_LEGEND = (
    "Failures: questions of each class. A question has one: the first stage at which its answer went wrong, or how it "
    "came out right. From gold, no model; rules: docs/failures.md."
)
_NONE = "\N{MIDDLE DOT}"


def print_failures(board: Leaderboard, console: Console) -> None:
    """Print nothing for a board without waterfalls. Names come from data and are never taken for markup."""
    rows = failure_rows(board)
    if rows.rows:
        print_parts((Text(_LEGEND, style="dim"), *strips(rows, console), *class_notes(board)), console)


def failure_rows(board: Leaderboard) -> Rows:
    """A row per class that occurs, in waterfall order, one for their sum, and one per hop that is missing first.

    A column per cell that has a waterfall; nothing for a board without any.
    """
    _, names = names_of(board.cells)
    columns = [
        ("\n".join(filter(None, named)).replace(", ", "\n"), cell.failures)
        for cell, named in zip(board.cells, names, strict=True)
        if cell.failures is not None and cell.failures.counts
    ]
    summaries = [failures for _, failures in columns]
    counts = [{one.failure: one.n for one in failures.counts} for failures in summaries]
    hops = sorted({hop for failures in summaries for hop in failures.broken_hops})
    rows = [_row(name, [of_cell.get(name, 0) for of_cell in counts]) for name in _occurring(summaries)]
    if rows:
        rows.append(_row("all", [failures.n_questions for failures in summaries]))
    rows += [_row(f"first missing: hop {hop}", [one.broken_hops.get(hop, 0) for one in summaries]) for hop in hops]
    return Rows(("class", *(heading for heading, _ in columns)), tuple(rows), 1)


def class_notes(board: Leaderboard) -> Iterator[str]:
    """A sentence on each class that occurs: what happened, and where to act."""
    for name in _occurring([cell.failures for cell in board.cells if cell.failures is not None]):
        if one := CLASSES.get(name):
            yield f"{name}: {one.meaning}." + (f" Act on {one.remedy}." if one.remedy else "")


def _occurring(summaries: Sequence[FailureSummary]) -> list[str]:
    """Names of classes in waterfall order, then those of a file of another version."""
    found = dict.fromkeys(count.failure for failures in summaries for count in failures.counts)
    return [*(name for name in CLASSES if name in found), *(name for name in found if name not in CLASSES)]


def _row(name: str, counts: Sequence[int]) -> tuple[str, ...]:
    return (name, *(f"{count:,}" if count else _NONE for count in counts))


_DIAGNOSIS_TABLE_LEGEND = (
    "Diagnosis: what the figures of a cell, taken together, are symptoms of. Thresholds: docs/failures.md."
)


def print_diagnosis(board: Leaderboard, console: Console) -> None:
    """Each symptom once, with the cells that have it and the figures that show it; nothing for a board without any.

    Names come from data and are never taken for markup.
    """
    names = short_names(board)
    cells: dict[str, list[str]] = {}
    for cell in board.cells:
        for symptom in cell.diagnosis:
            cells.setdefault(symptom_text(symptom), []).append(f"{names[cell.cell]}: {figures_text(symptom)}")
    parts: list[Part] = [Text(_DIAGNOSIS_TABLE_LEGEND, style="dim")]
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
