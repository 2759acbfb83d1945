"""What is found and answered by what was asked: hop by hop, and by kind, number of hops and shape."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.report.figures import metric_text
from arena.report.leaderboard import Leaderboard
from arena.report.page.grids import Grid
from arena.report.page.leaderboard_view import metric_quote
from arena.report.page.marks import Mark
from arena.report.page.quoted import Quotes, path_of
from arena.report.page.wording import metric_name
from arena.types import GOLD_MODE

_HOP = re.compile(r"hop_(\d+)_recall")
_SHOWN = ("retrieval_recall", "answer_f1")
_BY = {"kind": "kind", "hops": "number of hops", "hop_shape": "shape of the chain"}


@dataclass(frozen=True, slots=True)
class HopView:
    """Recall of each hop's evidence: as a table, and as lines, a panel per mode; `key`: a mark per strategy."""

    grid: Grid
    key: tuple[Mark, ...]
    figure: Mapping[str, Any]


def hop_view(board: Leaderboard, marks: Sequence[Mark]) -> HopView | None:
    """None where no cell has recall by hop."""
    hops = sorted({int(found[1]) for cell in board.cells for name in cell.metrics if (found := _HOP.fullmatch(name))})
    defined = [hop for hop in hops if any(_mean(board, mark.place, hop) is not None for mark in marks)]
    shown = [mark for mark in marks if any(_mean(board, mark.place, hop) is not None for hop in defined)]
    if not shown:
        return None
    quotes = Quotes(board)
    grid = Grid(
        ("cell", *(f"hop {hop}" for hop in defined)),
        tuple(
            (
                mark,
                *(
                    quotes.quote("metric", path_of("cells", mark.place, "metrics", f"hop_{hop}_recall"))
                    for hop in defined
                ),
            )
            for mark in shown
        ),
    )
    lines: list[dict[str, Any]] = [
        {"cell": mark.place, "points": _points(board, mark.place, defined)} for mark in shown if mark.mode != GOLD_MODE
    ]
    key = {marks[line["cell"]].strategy: marks[line["cell"]] for line in lines}
    return HopView(grid, tuple(key.values()), {"lines": lines, "x": "hop", "y": "recall of the hop's evidence"})


def _points(board: Leaderboard, place: int, hops: Sequence[int]) -> list[dict[str, Any]]:
    metrics = board.cells[place].metrics
    return [
        {"x": hop, "y": one.mean, "low": one.ci_low, "high": one.ci_high, "text": metric_text(one)}
        for hop in hops
        if (one := metrics.get(f"hop_{hop}_recall")) and one.mean is not None
    ]


def breakdown_grids(board: Leaderboard, marks: Sequence[Mark]) -> tuple[Grid, ...]:
    """A table per attribute and headline metric: cells down, values across; cells without the metric left out."""
    quotes = Quotes(board)
    attributes = dict.fromkeys(name for cell in board.cells for name in cell.breakdown)
    found = []
    for attribute in attributes:
        for metric in _SHOWN:
            cells = [mark for mark in marks if _has(board, mark.place, attribute, metric)]
            values = list(
                dict.fromkeys(value for mark in cells for value in board.cells[mark.place].breakdown[attribute])
            )
            if cells:
                found.append(
                    Grid(
                        ("cell", *values),
                        tuple(
                            (
                                mark,
                                *(
                                    metric_quote(
                                        quotes,
                                        path_of("cells", mark.place, "breakdown", attribute, value, metric),
                                        board.cells[mark.place],
                                        metric,
                                    )
                                    for value in values
                                ),
                            )
                            for mark in cells
                        ),
                        caption=f"{metric_name(metric)} by {_BY.get(attribute, attribute)}",
                    )
                )
    return tuple(found)


def _mean(board: Leaderboard, place: int, hop: int) -> float | None:
    summary = board.cells[place].metrics.get(f"hop_{hop}_recall")
    return summary.mean if summary else None


def _has(board: Leaderboard, place: int, attribute: str, metric: str) -> bool:
    groups = board.cells[place].breakdown.get(attribute, {})
    return any(metric in group and group[metric].coverage is not None for group in groups.values())
