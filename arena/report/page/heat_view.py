"""Strategy by retrieval mode: one shaded table for each of the figures one chooses by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.report.leaderboard import CellSummary, Leaderboard
from arena.report.page.grids import Entry, Grid
from arena.report.page.leaderboard_view import metric_quote
from arena.report.page.marks import Mark
from arena.report.page.quoted import Quote, Quotes, path_of
from arena.report.page.wording import metric_name
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE

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

    def tokens(place: int, cell: CellSummary) -> Quote:
        return quotes.quote("tokens", path_of("cells", place), order=cell.tokens)

    def seconds(place: int, cell: CellSummary) -> Quote:
        return quotes.quote("seconds", path_of("cells", place), order=cell.latency_seconds.p50)

    wanted = [(metric_name(metric), by_metric(metric)) for metric in _METRICS]
    wanted += [("tokens per question", tokens), ("seconds p50 / p95", seconds)]
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
