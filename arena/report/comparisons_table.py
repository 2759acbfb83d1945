"""Which differences between cells are more than chance, below the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from arena.report.comparisons import FEW_SHARED, HEADLINE, LEVEL, Comparison
from arena.report.figures import p_text, signed_interval_text, signed_text
from arena.report.leaderboard import CellSummary, Leaderboard
from arena.report.text_rows import Rows
from arena.report.text_table import Part, print_parts
from arena.report.titles import short_names

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
