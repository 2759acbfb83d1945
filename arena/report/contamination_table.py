"""What models know without documents, and what cells add to it, below the leaderboard."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from arena.report.cell_names import names_of
from arena.report.closed_book_gain import ClosedBookGain
from arena.report.contamination import PROBED, ContaminationProbe
from arena.report.contamination_words import NOTE, SHORT, group_name, left_out_note, origin_note, plain, verdict
from arena.report.figures import UNDEFINED, metric_text, p_text, ratio_text, signed_interval_text, signed_text
from arena.report.leaderboard import CellSummary, Leaderboard
from arena.report.text_rows import Rows
from arena.report.text_table import Part, print_parts
from arena.report.titles import short_names


def print_contamination(board: Leaderboard, console: Console) -> None:
    """Print nothing for a board without models. Names come from data and are never taken for markup."""
    if not board.contamination:
        return
    parts: list[Part] = []
    for probe in board.contamination:
        parts.append(Text(plain(verdict(probe)), style="bold"))
        if probe.groups:
            parts.append(probe_rows(probe))
        if note := left_out_note(probe):
            parts.append(note)
    if any(probe.groups for probe in board.contamination):
        parts.append(NOTE)
    if note := origin_note(board):
        parts.append(note)
    if (gained := gain_rows(board)).rows:
        parts += [Text("Gain over closed_book of the same model, on the same questions", style="bold"), gained]
    parts += gain_notes(board)
    print_parts(parts, console)


def probe_rows(probe: ContaminationProbe) -> Rows:
    """A row per group of questions and metric."""
    rows = tuple(
        (
            group_name(group),
            SHORT[name],
            f"{one.own.n:,}",
            metric_text(one.own),
            ratio_text(one.chance),
            signed_text(one.above),
            signed_interval_text(one.ci_low, one.ci_high),
            p_text(one.p_adjusted),
        )
        for group in probe.groups
        for name, one in group.metrics.items()
        if one.own.coverage is not None
    )
    return Rows(("questions", "metric", "n", "closed_book", "chance", "above", "95% interval", "p (Holm)"), rows, 2)


def gain_rows(board: Leaderboard) -> Rows:
    """A row per cell that has a gain; a metric in which no cell has any is left out."""
    gaining = [cell for cell in board.cells if any(one.withheld is None for one in cell.gain_over_closed_book.values())]
    metrics = [name for name in PROBED if any(_has_gain(cell, name) for cell in gaining)]
    headings, names = names_of(gaining)
    rows = tuple(
        (*named, *(text for name in metrics for text in _gain_texts(cell.gain_over_closed_book.get(name))))
        for cell, named in zip(gaining, names, strict=True)
    )
    figures = (heading for name in metrics for heading in (SHORT[name], "95% interval"))
    return Rows((*headings, *figures), rows, len(headings))


def gain_notes(board: Leaderboard) -> Iterator[str]:
    """A sentence per metric and reason why gains are withheld, with the cells that it concerns."""
    names = short_names(board)
    withheld: dict[tuple[str, str], list[str]] = {}
    for cell in board.cells:
        for metric, gain in cell.gain_over_closed_book.items():
            if gain.withheld is not None:
                withheld.setdefault((metric, gain.withheld), []).append(names[cell.cell])
    for (metric, reason), cells in withheld.items():
        yield f"gain in {metric} withheld, {reason}: {', '.join(cells)}."


def _has_gain(cell: CellSummary, metric: str) -> bool:
    gain = cell.gain_over_closed_book.get(metric)
    return gain is not None and gain.withheld is None


def _gain_texts(gain: ClosedBookGain | None) -> tuple[str, str]:
    if gain is None:
        return UNDEFINED, UNDEFINED
    return signed_text(gain.difference), signed_interval_text(gain.ci_low, gain.ci_high)
