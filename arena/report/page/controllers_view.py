"""What the controllers of each cell did, and what it was worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.report.controller_scores_table import controller_score_lines
from arena.report.controllers_table import controller_notes
from arena.report.leaderboard import Leaderboard
from arena.report.page.grids import Entry, Grid
from arena.report.page.marks import Mark
from arena.report.page.quoted import Quotes, path_of


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
