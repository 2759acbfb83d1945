"""Paired differences: a table per metric, and who does not compete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.report.comparisons import HEADLINE, Comparison
from arena.report.leaderboard import CellSummary, Leaderboard
from arena.report.page.grids import Entry, Grid
from arena.report.page.marks import Mark
from arena.report.page.quoted import Quotes, path_of
from arena.report.page.wording import listed, metric_name
from arena.types import GOLD_MODE

FEW_PAIRS = 6
"""Up to here all pairs stand open; above, where any differ, those with the highest mean. The rest can be unfolded."""

MOST_FOLDED = 120
"""Pairs that can be unfolded, the widest differences first; leaderboard.json has them all."""

Pairs = Sequence[tuple[int, Comparison]]
"""Comparisons with their places in leaderboard.json."""


@dataclass(frozen=True, slots=True)
class MetricComparisons:
    """The pairs of one metric. `shown` are those worth reading first, `others` the rest, `left_out` in words."""

    title: str
    summary: str
    shown: Grid
    others: Grid
    left_out: tuple[str, ...]


def comparisons_view(board: Leaderboard, marks: Sequence[Mark]) -> tuple[MetricComparisons, ...]:
    """The metrics on which any pair was compared, in the order of HEADLINE."""
    found = []
    for metric in HEADLINE:
        pairs = [(place, one) for place, one in enumerate(board.comparisons) if one.metric == metric]
        if pairs:
            found.append(_view(metric, pairs, board, marks))
    return tuple(found)


def _view(metric: str, pairs: Pairs, board: Leaderboard, marks: Sequence[Mark]) -> MetricComparisons:
    tested = [(place, one) for place, one in pairs if one.difference is not None]
    best = _best(board, metric)
    differ = sum(one.significant for _, one in tested)
    with_best = [pair for pair in tested if best in (pair[1].a, pair[1].b)] if differ else []
    shown = tested if len(tested) <= FEW_PAIRS else with_best
    open_places = {place for place, _ in shown}
    others = sorted((pair for pair in tested if pair[0] not in open_places), key=_width)
    more = [f"{len(others) - MOST_FOLDED:,} more pairs are in leaderboard.json."] if len(others) > MOST_FOLDED else []
    by_cell = {cell.cell: mark for cell, mark in zip(board.cells, marks, strict=True)}
    quotes, name = Quotes(board), metric_name(metric)
    return MetricComparisons(
        title=name[0].upper() + name[1:],
        summary=_summary(len(tested), differ),
        shown=_grid(shown, by_cell, quotes, best),
        others=_grid(others[:MOST_FOLDED], by_cell, quotes, None),
        left_out=(*_left_out(metric, board, marks), *more),
    )


def _best(board: Leaderboard, metric: str) -> str | None:
    """Key of the cell with the highest mean among those that compete; the first of several."""
    competing = [cell for cell in board.cells if metric in cell.ranks]
    return max(competing, key=lambda cell: cell.metrics[metric].mean or 0.0).cell if competing else None


def _width(pair: tuple[int, Comparison]) -> float:
    """Sorts wide differences first."""
    return -abs(pair[1].difference or 0.0)


def _summary(tested: int, differ: int) -> str:
    if tested == 0:
        return "No two cells could be compared."
    if tested == 1:
        return f"The two cells {'differ' if differ else 'are not shown to differ'} by more than chance."
    return f"{differ:,} of {tested:,} pairs are shown to differ by more than chance."


def _left_out(metric: str, board: Leaderboard, marks: Sequence[Mark]) -> list[str]:
    """A sentence per reason why cells that have the metric do not compete."""
    reasons: dict[str, list[str]] = {}
    for cell, mark in zip(board.cells, marks, strict=True):
        summary = cell.metrics.get(metric)
        if summary is not None and summary.coverage is not None and metric not in cell.ranks:
            reasons.setdefault(_reason(cell, metric), []).append(mark.name)
    return [f"{listed(names)}: {reason}." for reason, names in reasons.items()]


def _reason(cell: CellSummary, metric: str) -> str:
    if message := cell.invalid(metric):
        return f"invalid, {message}"
    if cell.metrics[metric].mean is None:
        return "withheld, too many scores are missing"
    return "handed the gold, no contestant" if cell.retrieval_mode == GOLD_MODE else "no other cell to compare with"


def _grid(pairs: Pairs, by_cell: Mapping[str, Mark], quotes: Quotes, best: str | None) -> Grid:
    """As seen from `best`, where it is the second of a pair."""
    headings = ("cell", "minus", "n", "difference", "95% interval", "p (Holm)")
    rows = tuple(_row(place, one, by_cell, quotes, turned=one.b == best) for place, one in pairs)
    return Grid(headings, rows, n_names=2, key="sortable")


def _row(
    place: int, one: Comparison, by_cell: Mapping[str, Mark], quotes: Quotes, *, turned: bool
) -> tuple[Entry, ...]:
    at, difference = path_of("comparisons", place), one.difference or 0.0
    seen = -difference if turned else difference
    first, second = (one.b, one.a) if turned else (one.a, one.b)
    return (
        by_cell[first],
        by_cell[second],
        quotes.quote("count", f"{at}.n"),
        quotes.quote("turned" if turned else "signed", f"{at}.difference", order=seen),
        quotes.quote("turned_interval" if turned else "interval", f"{at}.ci_low", f"{at}.ci_high", order=seen),
        quotes.quote("p", f"{at}.p_adjusted"),
    )
