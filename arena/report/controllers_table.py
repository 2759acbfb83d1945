"""What the controllers did, below the leaderboard: a block per cell, and sentences on what it was worth."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.report.controller_scores_table import controller_score_lines
from arena.report.controllers import BranchSummary, ControllerSummary
from arena.report.leaderboard import CellSummary, Leaderboard
from arena.report.text_table import Part, print_parts
from arena.report.titles import cell_title

_LEGEND = (
    "Controllers: on how many questions, and how many times in all, each branch was taken, and how many times it "
    "changed the evidence, the query or the answer. A verdict on one passage changes nothing by itself."
)


def print_controllers(board: Leaderboard, console: Console) -> None:
    """Print nothing for a board without decisions. Names come from strategies and are never taken for markup."""
    deciding = [cell for cell in board.cells if cell.controllers]
    if not deciding:
        return
    parts: list[Part] = [Text(_LEGEND, style="dim")]
    for cell in deciding:
        parts += [Text(cell_title(cell, board), style="bold"), _table(cell.controllers), *controller_notes(cell)]
        parts += controller_score_lines(cell.controller_scores) if cell.controller_scores else ()
    print_parts(parts, console)


def controller_notes(cell: CellSummary) -> Iterator[str]:
    """A sentence on every controller that decided nothing, and on judgements of several tiers."""
    for controller in cell.controllers:
        if controller.never_changed_anything and controller.always is not None:
            yield f"{controller.node} took {controller.always} on every question and never changed anything."
        elif controller.never_changed_anything:
            yield f"{controller.node} never changed anything: the controller is a no-op here."
        elif controller.always is not None:
            yield f"{controller.node} took {controller.always} on every question: it decides nothing here."
    if len(cell.judgements) > 1:
        counts = ", ".join(f"{count:,} at {tier}" for tier, count in sorted(cell.judgements.items()))
        yield f"Judgements were {counts}: the cell counts as {cell.fidelity_tier}, the lowest."


def _table(controllers: list[ControllerSummary]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in ("  controller", "branch"):
        table.add_column(heading, overflow="fold")
    for heading in ("questions", "times"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("changed", overflow="fold")
    for controller in controllers:
        for place, branch in enumerate(controller.branches):
            node = f"  {controller.node}" if place == 0 else ""
            changed = "(verdict)" if controller.only_judges else _changed(branch)
            table.add_row(Text(node), Text(branch.choice), f"{branch.n_questions:,}", f"{branch.n_times:,}", changed)
    return table


def _changed(branch: BranchSummary) -> str:
    """What a branch changed and how often; `nothing` marks one that has no effect."""
    counts = (("evidence", branch.evidence), ("query", branch.query), ("answer", branch.answer))
    return ", ".join(f"{what} {count:,}" for what, count in counts if count) or "nothing"
