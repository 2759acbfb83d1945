"""What became of the questions: classes down, cells across, and below what each class means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from arena.metrics.failures import CLASSES
from arena.report.cell_names import names_of
from arena.report.failures import FailureSummary
from arena.report.leaderboard import Leaderboard
from arena.report.text_rows import Rows
from arena.report.text_table import print_parts, strips

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
