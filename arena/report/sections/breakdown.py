"""The headline metric of every cell by what was asked, below the leaderboard.

How far each reader gets from knowing by heart to reading the gold, below the leaderboard.

What is found and answered by what was asked: hop by hop, and by kind, number of hops and shape.

Strategy by retrieval mode: one shaded table for each of the figures one chooses by.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.console import Console
from rich.text import Text

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.schema import MetricSummary
from arena.report.figures import Quote, Quotes, metric_text, path_of, signed_interval_text, signed_text
from arena.report.names import Mark, metric_name, names_of, short_names
from arena.report.section import Entry, Grid
from arena.report.sections.leaderboard import SECONDS, TOKENS, metric_quote
from arena.report.text import Part, Rows, print_parts
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE

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


_HOP = re.compile(r"hop_(\d+)_recall")
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
            cells = [mark for mark in marks if _has_breakdown_view(board, mark.place, attribute, metric)]
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


def _has_breakdown_view(board: Leaderboard, place: int, attribute: str, metric: str) -> bool:
    groups = board.cells[place].breakdown.get(attribute, {})
    return any(metric in group and group[metric].coverage is not None for group in groups.values())


_METRICS = ("answer_f1", "answer_accuracy", "retrieval_recall", "full_recall", "faithfulness", "lexical_faithfulness")
SHADES = 10


def heat_grids(board: Leaderboard, marks: Sequence[Mark]) -> tuple[Grid, ...]:
    """A table per metric that has a figure, then tokens and seconds; none in a run of one mode."""
    modes = [mode for mode in dict.fromkeys(mark.mode for mark in marks) if mode not in (GOLD_MODE, NO_RETRIEVAL_MODE)]
    if len(modes) < 2:
        return ()
    quotes = Quotes(board)

    def by_metric(metric: str) -> Callable[[int, CellSummary], Quote]:
        return lambda place, cell: metric_quote(quotes, path_of("cells", place, "metrics", metric), cell, metric)

    wanted = [(metric_name(metric), by_metric(metric)) for metric in _METRICS]
    wanted += [
        ("tokens per question", partial(TOKENS.quote, quotes)),
        ("seconds p50 / p95", partial(SECONDS.quote, quotes)),
    ]
    grids = (_grid(caption, figure, board, marks, modes) for caption, figure in wanted)
    return tuple(grid for grid in grids if any(shade is not None for shades in grid.heats for shade in shades))


def _grid(
    caption: str,
    figure: Callable[[int, CellSummary], Quote],
    board: Leaderboard,
    marks: Sequence[Mark],
    modes: Sequence[str],
) -> Grid:
    lines: dict[tuple[str, str], dict[str, Quote]] = {}
    for mark in marks:
        if mark.mode in modes:
            lines.setdefault((mark.strategy, mark.setting), {})[mark.mode] = figure(mark.place, board.cells[mark.place])
    orders = [quote.order for line in lines.values() for quote in line.values() if quote.order is not None]
    rows: list[tuple[Entry, ...]] = []
    heats = []
    for (strategy, setting), line in lines.items():
        name = f"{strategy} ({setting})" if setting else strategy
        rows.append((name, *(line.get(mode, "") for mode in modes)))
        heats.append((None, *(_shade(line.get(mode), orders) for mode in modes)))
    return Grid(("strategy", *modes), tuple(rows), caption=caption, heats=tuple(heats))


def _shade(quote: Quote | None, orders: Sequence[float]) -> int | None:
    """Where a figure lies between the least (0) and the greatest (SHADES) of its table."""
    if quote is None or quote.order is None:
        return None
    low, high = min(orders), max(orders)
    return SHADES // 2 if high == low else round(SHADES * (quote.order - low) / (high - low))
