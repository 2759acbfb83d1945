"""Which differences between cells are more than chance, below the leaderboard.

Paired differences: a table per metric, and who does not compete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.schema import FEW_SHARED, HEADLINE, LEVEL, Comparison
from arena.report.figures import Quotes, p_text, path_of, signed_interval_text, signed_text
from arena.report.names import Mark, listed, metric_name, short_names
from arena.report.section import Entry, Grid
from arena.report.text import Part, Rows, print_parts
from arena.types import GOLD_MODE

_LEGEND = (
    "Comparisons: paired permutation tests on the questions that both cells have a score for, Holm over all pairs of a "
    f"metric, {LEVEL:.0%} level; the 95% interval is of one pair alone (paired bootstrap, or Wilson)."
)
_NONE_LEFT = "at most one is neither withheld nor invalid"
_FEW_PAIRS = 6
"""That of four cells: up to here every pair is shown, above it those with the best cell."""


def print_comparisons(board: Leaderboard, console: Console) -> None:
    """Print a block per metric on which cells were compared; nothing for a board without comparisons.

    Pairs are listed for the first of these metrics, and for each on which any pair differs.
    """
    compared = {one: [pair for pair in board.comparisons if pair.metric == one] for one in HEADLINE}
    metrics = [one for one in HEADLINE if compared[one]]
    parts: list[Part] = [Text(_LEGEND, style="dim")]
    for metric in metrics:
        parts.append(Text(_heading(metric, compared[metric]), style="bold"))
        rows = comparison_rows(board, metric)
        if rows.rows and (metric == metrics[0] or any(one.significant for one in compared[metric])):
            parts.append(rows)
        parts += _left_out(board, metric, compared[metric])
    if metrics:
        print_parts(parts, console)


def comparison_rows(board: Leaderboard, metric: str) -> Rows:
    """The pairs of a metric that are worth reading: with the best cell, or all where they are few."""
    tested = [one for one in board.comparisons if one.metric == metric and one.difference is not None]
    best = _best(board.cells, metric)
    if len(tested) > _FEW_PAIRS:
        tested = [_from(one, best) for one in tested if best in (one.a, one.b)]
    names = short_names(board)
    return Rows(
        ("cell", "minus", "n", "difference", "95% interval", "p (Holm)"),
        tuple(
            (
                names[one.a],
                names[one.b],
                f"{one.n:,}",
                signed_text(one.difference),
                signed_interval_text(one.ci_low, one.ci_high),
                p_text(one.p_adjusted),
            )
            for one in tested
        ),
        n_names=2,
    )


def _heading(metric: str, compared: Sequence[Comparison]) -> str:
    family = sum(one.p is not None for one in compared)
    different = sum(one.significant for one in compared)
    if family == 0:
        few = any(one.withheld == FEW_SHARED for one in compared)
        return f"{metric}: no two cells can be compared: {FEW_SHARED if few else _NONE_LEFT}"
    if family == 1:
        return f"{metric}: the two cells {'differ' if different else 'are not shown to differ'} by more than chance"
    return f"{metric}: {different} of {family:,} pairs are shown to differ by more than chance"


def _best(cells: Sequence[CellSummary], metric: str) -> str | None:
    """Key of the cell with the highest mean among those that compete."""
    means = [(cell.metrics[metric].mean or 0.0, cell.cell) for cell in cells if metric in cell.ranks]
    return max(means, key=lambda pair: pair[0])[1] if means else None


def _from(one: Comparison, cell: str | None) -> Comparison:
    """The comparison as seen from `cell`."""
    if one.a == cell or one.difference is None or one.ci_low is None or one.ci_high is None:
        return one
    turned = {"a": one.b, "b": one.a, "difference": -one.difference, "ci_low": -one.ci_high, "ci_high": -one.ci_low}
    return one.model_copy(update=turned)


def _left_out(board: Leaderboard, metric: str, compared: Sequence[Comparison]) -> list[str]:
    """One sentence per cell that does not compete, if any other does."""
    competing = {cell.cell for cell in board.cells if metric in cell.ranks}
    names = short_names(board)
    reasons = {
        one.withheld: names[one.b if one.a in competing else one.a]
        for one in compared
        if one.withheld is not None and (one.a in competing) != (one.b in competing)
    }
    return [f"{name} does not compete: {reason.partition(': ')[2]}." for reason, name in reasons.items()]


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
    best = _best_comparisons_view(board, metric)
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
        left_out=(*_left_out_comparisons_view(metric, board, marks), *more),
    )


def _best_comparisons_view(board: Leaderboard, metric: str) -> str | None:
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


def _left_out_comparisons_view(metric: str, board: Leaderboard, marks: Sequence[Mark]) -> list[str]:
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
