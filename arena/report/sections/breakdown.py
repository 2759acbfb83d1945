"""What is found and answered by what was asked, by retrieval mode, and on the way from memory to the gold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.schema import MetricSummary
from arena.report.figures import Quote, Quotes, metric_text, path_of
from arena.report.names import Mark, metric_name
from arena.report.section import Block, Entry, Figure, Grid, Section, cell_grid, lines
from arena.report.sections.leaderboard import SECONDS, TOKENS, Column, metric_column, metric_quote
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE, grouped

_SHOWN = ("retrieval_recall", "answer_f1")
_BY = {"kind": "kind", "hops": "number of hops", "hop_shape": "shape of the chain"}


def breakdown(board: Leaderboard, marks: Sequence[Mark]) -> Section | None:
    """A table per attribute and headline metric; None where all questions are alike."""
    attributes = dict.fromkeys(name for cell in board.cells for name in cell.breakdown)
    tables = [(one, metric, _having(board, marks, one, metric)) for one in attributes for metric in _SHOWN]
    blocks = tuple(_by_attribute(board, *table) for table in tables if table[2])
    return Section("Breakdown", "the headline metrics by what was asked.", blocks) if blocks else None


def _having(board: Leaderboard, marks: Sequence[Mark], attribute: str, metric: str) -> list[Mark]:
    """The cells that have the metric for any value of the attribute."""
    return [
        mark
        for mark in marks
        if any(
            metric in group and group[metric].coverage is not None
            for group in board.cells[mark.place].breakdown.get(attribute, {}).values()
        )
    ]


def _by_attribute(board: Leaderboard, attribute: str, metric: str, marks: Sequence[Mark]) -> Block:
    """Cells down, values of the attribute across."""
    quotes, cells = Quotes(board), board.cells
    values = tuple(dict.fromkeys(value for mark in marks for value in cells[mark.place].breakdown[attribute]))

    def figure(mark: Mark, value: str) -> Quote:
        path = path_of("cells", mark.place, "breakdown", attribute, value, metric)
        return metric_quote(quotes, path, cells[mark.place], metric)

    rows: list[tuple[Entry, ...]] = [(mark, *(figure(mark, value) for value in values)) for mark in marks]
    caption = f"{metric_name(metric)} by {_BY.get(attribute, attribute)}"
    return Block(heading=(caption,), grid=Grid(("cell", *values), tuple(rows), caption=caption), folded=caption)


_GAP = {
    "n": "count n",
    "recovered": "signed recovered",
    "95% interval": "interval ci_low ci_high",
    "per 1,000 tokens": "signed per_thousand_tokens",
}
_GAP_LEGEND = (
    "share of the way from closed_book (0) to oracle (1) in answer F1, on the questions that all three have a "
    "score for, with its 95% interval (paired bootstrap), and that share per 1,000 tokens of a question."
)


def gap(board: Leaderboard, marks: Sequence[Mark]) -> Section | None:
    """A row per cell between the controls whose share is known, and a sentence per reason why others are withheld."""
    known = [(mark, one) for mark in marks if (one := board.cells[mark.place].gap) is not None]
    withheld = grouped((one.withheld, mark.name) for mark, one in known if one.withheld is not None)
    shown = [mark for mark, one in known if one.withheld is None]
    grid = cell_grid(Quotes(board), shown, _GAP, "gap") if shown else None
    notes = lines(f"withheld, {reason}: {', '.join(cells)}." for reason, cells in withheld.items())
    return Section("Gap", _GAP_LEGEND, (Block(grid=grid, notes=notes),)) if known else None


_HOP = re.compile(r"hop_(\d+)_recall")


def hops(board: Leaderboard, marks: Sequence[Mark]) -> Figure | None:
    """Recall of each hop's evidence, a panel per mode and a mark per strategy; None where no cell has recall by hop."""
    recalls = {mark: found for mark in marks if (found := _hop_recalls(board.cells[mark.place]))}
    if not recalls:
        return None
    defined = sorted({hop for of_cell in recalls.values() for hop in of_cell})
    figures = {f"hop {hop}": f"metric hop_{hop}_recall" for hop in defined}
    drawn: list[dict[str, Any]] = [
        {"cell": mark.place, "points": [_point(hop, one) for hop, one in sorted(of_cell.items())]}
        for mark, of_cell in recalls.items()
        if mark.mode != GOLD_MODE
    ]
    key = {marks[line["cell"]].strategy: marks[line["cell"]] for line in drawn}
    grid = cell_grid(Quotes(board), list(recalls), figures, "metrics")
    return Figure((grid,), {"lines": drawn, "x": "hop", "y": "recall of the hop's evidence"}, key=tuple(key.values()))


def _hop_recalls(cell: CellSummary) -> dict[int, MetricSummary]:
    """Number of a hop -> recall of its evidence, where that has a mean."""
    return {
        int(found[1]): one
        for name, one in cell.metrics.items()
        if one.mean is not None and (found := _HOP.fullmatch(name))
    }


def _point(hop: int, one: MetricSummary) -> dict[str, Any]:
    return {"x": hop, "y": one.mean, "low": one.ci_low, "high": one.ci_high, "text": metric_text(one)}


_METRICS = ("answer_f1", "answer_accuracy", "retrieval_recall", "full_recall", "faithfulness", "lexical_faithfulness")
SHADES = 10


def heat_grids(board: Leaderboard, marks: Sequence[Mark]) -> tuple[Grid, ...]:
    """A table per metric that has a figure, then tokens and seconds; none in a run of one mode."""
    modes = [mode for mode in dict.fromkeys(mark.mode for mark in marks) if mode not in (GOLD_MODE, NO_RETRIEVAL_MODE)]
    if len(modes) < 2:
        return ()
    wanted = [metric_column(metric_name(metric), metric) for metric in _METRICS]
    wanted += [replace(TOKENS, heading="tokens per question"), replace(SECONDS, heading="seconds p50 / p95")]
    grids = (_grid(column, Quotes(board), marks, modes) for column in wanted)
    return tuple(grid for grid in grids if any(shade is not None for shades in grid.heats for shade in shades))


def _grid(column: Column, quotes: Quotes, marks: Sequence[Mark], modes: Sequence[str]) -> Grid:
    lines: dict[tuple[str, str], dict[str, Quote]] = {}
    for mark in marks:
        if mark.mode in modes:
            quote = column.quote(quotes, mark.place, quotes.board.cells[mark.place])
            lines.setdefault((mark.strategy, mark.setting), {})[mark.mode] = quote
    orders = [quote.order for line in lines.values() for quote in line.values() if quote.order is not None]
    rows: list[tuple[Entry, ...]] = []
    heats = []
    for (strategy, setting), line in lines.items():
        name = f"{strategy} ({setting})" if setting else strategy
        rows.append((name, *(line.get(mode, "") for mode in modes)))
        heats.append((None, *(_shade(line.get(mode), orders) for mode in modes)))
    return Grid(("strategy", *modes), tuple(rows), caption=column.heading, heats=tuple(heats))


def _shade(quote: Quote | None, orders: Sequence[float]) -> int | None:
    """Where a figure lies between the least (0) and the greatest (SHADES) of its table."""
    if quote is None or quote.order is None:
        return None
    low, high = min(orders), max(orders)
    return SHADES // 2 if high == low else round(SHADES * (quote.order - low) / (high - low))
