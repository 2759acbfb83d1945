"""What the controllers did, below the leaderboard: a block per cell, and sentences on what it was worth.

What controllers were worth, as sentences below their branches.

What the controllers of each cell did, and what it was worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.controllers import (
    BranchSummary,
    ControllerScores,
    ControllerSummary,
    GraderScores,
    RewriteScores,
    RouteConfusion,
)
from arena.report.figures import UNDEFINED, Quotes, path_of
from arena.report.names import Mark, cell_title
from arena.report.section import Entry, Grid
from arena.report.text import Part, print_parts


def controller_score_lines(scores: ControllerScores) -> Iterator[str]:
    """A sentence for each grader, for each standard a router is held against, for rewriting, and for waste."""
    yield from map(_grader, scores.graders)
    if scores.against_hops:
        yield _router("hops", scores.against_hops)
    if scores.against_oracle:
        yield _router("the cheapest way that answers right", scores.against_oracle)
    if scores.rewriting:
        yield _rewriting(scores.rewriting)
    if scores.n_retrievals:
        needless = f", {scores.n_needless:,} of them when all was there already" if scores.n_needless else ""
        yield f"{scores.n_wasted:,} of {scores.n_retrievals:,} retrievals brought no new gold document{needless}."


def _grader(grader: GraderScores) -> str:
    undecided = f", {grader.n_undecided:,} undecided" if grader.n_undecided else ""
    return (
        f"{grader.node}: precision {_ratio(grader.precision)} (approving all: {_ratio(grader.base_rate)}), recall "
        f"{_ratio(grader.recall)}; {grader.n_judged:,} verdicts, {grader.n_gold:,} on gold{undecided}."
    )


def _router(standard: str, confusion: RouteConfusion) -> str:
    wrong = ", ".join(
        f"{count.needed} sent {count.taken} {count.n:,}" for count in confusion.counts if count.needed != count.taken
    )
    return (
        f"routing against {standard}: right for {_ratio(confusion.agreement)} of {confusion.n:,}, too cheap for "
        f"{confusion.n_cheaper:,}, too dear for {confusion.n_dearer:,}" + (f" ({wrong})." if wrong else ".")
    )


def _rewriting(rewriting: RewriteScores) -> str:
    return (
        f"asking in other words: recall {_ratio(rewriting.recall_before)} before, {_ratio(rewriting.recall_after)} "
        f"after (gain {_ratio(rewriting.gain)}), {_ratio(rewriting.recall_alone)} of the last query alone; "
        f"{rewriting.n_questions:,} question{'s' if rewriting.n_questions > 1 else ''}."
    )


def _ratio(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"


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


@dataclass(frozen=True, slots=True)
class ControllersView:
    """The branches of one cell; `notes` in sentences."""

    mark: Mark
    grid: Grid
    notes: tuple[str, ...]


def controllers_view(board: Leaderboard, marks: Sequence[Mark]) -> tuple[ControllersView, ...]:
    """One for each cell that decides."""
    quotes = Quotes(board)
    found = []
    for mark in marks:
        cell = board.cells[mark.place]
        if cell.controllers:
            scores = controller_score_lines(cell.controller_scores) if cell.controller_scores else ()
            found.append(ControllersView(mark, _grid(board, mark.place, quotes), (*controller_notes(cell), *scores)))
    return tuple(found)


def _grid(board: Leaderboard, place: int, quotes: Quotes) -> Grid:
    rows: list[tuple[Entry, ...]] = []
    for number, controller in enumerate(board.cells[place].controllers):
        for order, branch in enumerate(controller.branches):
            at = path_of("cells", place, "controllers", number, "branches", order)
            changed: tuple[Entry, ...] = tuple(
                quotes.quote("count", f"{at}.{what}") for what in ("evidence", "query", "answer")
            )
            rows.append(
                (
                    controller.node if order == 0 else "",
                    branch.choice,
                    quotes.quote("count", f"{at}.n_questions"),
                    quotes.quote("count", f"{at}.n_times"),
                    *(("verdict", "", "") if controller.only_judges else changed),
                )
            )
    headings = ("controller", "branch", "questions", "times", "evidence changed", "query changed", "answer changed")
    return Grid(headings, tuple(rows), n_names=2)
