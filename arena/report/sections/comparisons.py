"""Which differences between cells are more than chance: a table per metric, and who does not compete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.schema import FEW_SHARED, HEADLINE, LEVEL, Comparison
from arena.report.figures import Quotes, path_of
from arena.report.names import Mark, listed, metric_name
from arena.report.section import Block, Entry, Grid, Line, Section, lines
from arena.types import GOLD_MODE, grouped

_LEGEND = (
    "paired permutation tests on the questions that both cells have a score for, Holm over all pairs of a metric, "
    f"{LEVEL:.0%} level; the 95% interval is of one pair alone (paired bootstrap, or Wilson)."
)

FEW_PAIRS = 6
"""Of the first metric, and of those on which any pair differs, all pairs stand open up to here, above it those with the
highest mean. A page unfolds the rest."""

MOST_FOLDED = 120
"""Pairs that can be unfolded, the widest differences first; leaderboard.json has them all."""

Pairs = Sequence[tuple[int, Comparison]]
"""Comparisons with their places in leaderboard.json."""


def comparisons(board: Leaderboard, marks: Sequence[Mark]) -> Section | None:
    """A block for each metric on which any pair was compared, in the order of HEADLINE."""
    blocks: list[Block] = []
    for metric in HEADLINE:
        pairs = [(place, one) for place, one in enumerate(board.comparisons) if one.metric == metric]
        if pairs:
            blocks.append(_block(metric, pairs, board, marks, first=not blocks))
    return Section("Comparisons", _LEGEND, tuple(blocks)) if blocks else None


def _block(metric: str, pairs: Pairs, board: Leaderboard, marks: Sequence[Mark], *, first: bool) -> Block:
    tested = [(place, one) for place, one in pairs if one.difference is not None]
    best = _best(board, metric)
    with_best = [pair for pair in tested if best in (pair[1].a, pair[1].b)]
    differ = any(one.significant for _, one in tested)
    worth_reading = tested if len(tested) <= FEW_PAIRS else with_best
    shown = worth_reading if first or differ else []
    open_places = {place for place, _ in shown}
    others = [pair for pair in tested if pair[0] not in open_places]
    others.sort(key=lambda pair: -abs(pair[1].difference or 0.0))  # wide ones first
    n_beyond = len(others) - MOST_FOLDED
    beyond = lines([f"{n_beyond:,} more pairs are in leaderboard.json."] if n_beyond > 0 else [])
    by_cell = {cell.cell: mark for cell, mark in zip(board.cells, marks, strict=True)}
    quotes, name = Quotes(board), metric_name(metric)
    return Block(
        heading=(name[0].upper() + name[1:],),
        lead=(_summary([one for _, one in pairs]),),
        grid=_grid(shown, by_cell, quotes, best) if shown else None,
        more=_grid(others[:MOST_FOLDED], by_cell, quotes, None) if others else None,
        notes=(*_left_out(metric, board, marks), *beyond),
    )


def _best(board: Leaderboard, metric: str) -> str | None:
    """Key of the cell with the highest mean among those that compete; the first of several."""
    competing = [cell for cell in board.cells if metric in cell.ranks]
    return max(competing, key=lambda cell: cell.metrics[metric].mean or 0.0).cell if competing else None


def _summary(compared: Sequence[Comparison]) -> str:
    family = sum(one.p is not None for one in compared)
    differ = sum(one.significant for one in compared)
    if family == 0:
        few = any(one.withheld == FEW_SHARED for one in compared)
        why = FEW_SHARED if few else "at most one is neither withheld nor invalid"
        return f"No two cells can be compared: {why}."
    if family == 1:
        return f"The two cells are {'' if differ else 'not '}shown to differ by more than chance."
    return f"{differ:,} of {family:,} pairs are shown to differ by more than chance."


def _left_out(metric: str, board: Leaderboard, marks: Sequence[Mark]) -> tuple[Line, ...]:
    """A sentence per reason why cells that have the metric do not compete; none on those that are handed the gold."""
    told = _reasons(metric, board)
    reasons = grouped(
        (told.get(cell.cell) or _reason(cell, metric), mark.name)
        for cell, mark in zip(board.cells, marks, strict=True)
        if cell.retrieval_mode != GOLD_MODE and cell.defines(metric) and metric not in cell.ranks
    )
    return lines(
        f"{listed(names)} {'does' if len(names) == 1 else 'do'} not compete: {reason}."
        for reason, names in reasons.items()
    )


def _reasons(metric: str, board: Leaderboard) -> dict[str, str]:
    """Cell -> why it could not be compared with those that compete, as its comparisons say."""
    competing = {cell.cell for cell in board.cells if metric in cell.ranks}
    return {
        (one.b if one.a in competing else one.a): one.withheld.partition(": ")[2]
        for one in board.comparisons
        if one.metric == metric and one.withheld is not None and (one.a in competing) != (one.b in competing)
    }


def _reason(cell: CellSummary, metric: str) -> str:
    if message := cell.invalid(metric):
        return f"invalid, {message}"
    if cell.metrics[metric].mean is None:
        return "withheld, too many scores are missing"
    return "there is no other cell to compare with"


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
