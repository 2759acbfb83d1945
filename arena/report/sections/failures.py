"""What became of the questions, class by class; and the symptoms of the cells, with where to act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.diagnosis import FailureSummary, Symptom
from arena.metrics.failures import failure_classes
from arena.report.figures import Quotes, path_of
from arena.report.names import Mark, metric_name
from arena.report.section import Block, Entry, Grid, Line, Section
from arena.types import grouped

_LEGEND = (
    "questions of each class. A question has one: the first stage at which its answer went wrong, or how it came out "
    "right. From gold, no model; rules: docs/failures.md."
)
_NONE = "\N{MIDDLE DOT}"


def failures(board: Leaderboard, marks: Sequence[Mark]) -> Section | None:
    """A row per cell that has a waterfall: its questions by class and in all, and by the hop that is missing first.

    The notes say of each class that occurs what happened, and where to act. None for a board without waterfalls.
    """
    found = _waterfalls(board, marks)
    if not found:
        return None
    classes = _occurring(list(found.values()))
    hops = sorted({hop for one in found.values() for hop in one.broken_hops})
    headings = ("cell", *classes, "all", *(f"first missing: hop {hop}" for hop in hops))
    quotes = Quotes(board)
    rows = tuple(_row(mark, one, classes, hops, quotes) for mark, one in found.items())
    notes: list[Line] = [
        (f"{name}: {one.meaning}." + (f" Act on {one.remedy}." if one.remedy else ""),)
        for name in classes
        if (one := failure_classes().get(name))
    ]
    return Section("Failures", _LEGEND, (Block(grid=Grid(headings, rows, turned="class"), notes=tuple(notes)),))


def failures_figure(board: Leaderboard, marks: Sequence[Mark]) -> dict[str, Any] | None:
    """The same as stacked bars. A class has its stage's colour."""
    found = _waterfalls(board, marks)
    if not found:
        return None
    counts = [{one.failure: one.n for one in failures.counts} for failures in found.values()]
    return {
        "cells": [mark.place for mark in found],
        "classes": [
            {
                "name": name,
                "stage": failure_classes()[name].stage if name in failure_classes() else "untold",
                "counts": [of_cell.get(name, 0) for of_cell in counts],
            }
            for name in _occurring(list(found.values()))
        ],
    }


def _waterfalls(board: Leaderboard, marks: Sequence[Mark]) -> dict[Mark, FailureSummary]:
    return {
        mark: failures
        for mark in marks
        if (failures := board.cells[mark.place].failures) is not None and failures.counts
    }


def _occurring(summaries: Sequence[FailureSummary]) -> list[str]:
    """Names of classes in waterfall order, then those of a file of another version."""
    found = dict.fromkeys(count.failure for failures in summaries for count in failures.counts)
    return [name for name in dict.fromkeys((*failure_classes(), *found)) if name in found]


def _row(
    mark: Mark, failures: FailureSummary, classes: Sequence[str], hops: Sequence[int], quotes: Quotes
) -> tuple[Entry, ...]:
    at = path_of("cells", mark.place, "failures")
    paths = {one.failure: f"{at}.counts.{number}.n" for number, one in enumerate(failures.counts)}
    return (
        mark,
        *(quotes.quote("count", paths[name]) if name in paths else _NONE for name in classes),
        quotes.quote("counts", *paths.values()),
        *(quotes.quote("count", f"{at}.broken_hops.{hop}") if hop in failures.broken_hops else _NONE for hop in hops),
    )


_DIAGNOSIS_LEGEND = "what the figures of a cell, taken together, are symptoms of. Thresholds: docs/failures.md."


def diagnosis(board: Leaderboard, marks: Sequence[Mark]) -> Section | None:
    """Each symptom once, in the order in which cells have them, with these cells and the figures that show it."""
    quotes = Quotes(board)
    found = grouped(
        ((one.name, one.reading, one.where_to_act), (mark, ": ", *_figures(one, mark.place, number, quotes)))
        for mark in marks
        for number, one in enumerate(board.cells[mark.place].diagnosis)
    )
    blocks = tuple(
        Block(heading=(name,), lead=(f"{reading} Act on: {where_to_act}",), notes=tuple(cells))
        for (name, reading, where_to_act), cells in found.items()
    )
    return Section("Diagnosis", _DIAGNOSIS_LEGEND, blocks) if blocks else None


def _figures(symptom: Symptom, place: int, number: int, quotes: Quotes) -> Line:
    """As in `recall 0.90, MRR 0.31`, of a symptom of the cell at `place`."""
    return tuple(
        part
        for order, metric in enumerate(symptom.figures)
        for part in (
            f"{', ' if order else ''}{metric_name(metric)} ",
            quotes.quote("ratio", path_of("cells", place, "diagnosis", number, "figures", metric)),
        )
    )
