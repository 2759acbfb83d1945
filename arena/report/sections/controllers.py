"""What the controllers of each cell did, and what it was worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.controllers import (
    BranchSummary,
    ControllerScores,
    GraderScores,
    RewriteScores,
    RouteConfusion,
)
from arena.leaderboard.validity import counted
from arena.report.figures import Quote, Quotes, path_of, ratio_text
from arena.report.names import Mark
from arena.report.section import Block, Entry, Grid, Section, lines
from arena.types import FIT

_LEGEND = (
    "on how many questions, and how many times in all, each branch was taken, and how many times it changed the "
    "evidence, the query or the answer. A verdict on one passage changes nothing by itself."
)


def controllers(board: Leaderboard, marks: Sequence[Mark]) -> Section | None:
    """A block for each cell that decides; None for a board without decisions."""
    quotes = Quotes(board)
    blocks = tuple(
        _block(mark, board.cells[mark.place], quotes) for mark in marks if board.cells[mark.place].controllers
    )
    return Section("Controllers", _LEGEND, blocks) if blocks else None


def _block(mark: Mark, cell: CellSummary, quotes: Quotes) -> Block:
    heading = (mark, f" at {cell.fidelity_tier}") if cell.fidelity_tier else (mark,)
    scores = controller_score_lines(cell.controller_scores) if cell.controller_scores else ()
    return Block(heading, grid=_grid(mark.place, cell, quotes), notes=lines([*controller_notes(cell), *scores]))


def _grid(place: int, cell: CellSummary, quotes: Quotes) -> Grid:
    rows: list[tuple[Entry, ...]] = []
    for number, controller in enumerate(cell.controllers):
        for order, branch in enumerate(controller.branches):
            at = path_of("cells", place, "controllers", number, "branches", order)
            rows.append(
                (
                    controller.node if order == 0 else "",
                    branch.choice,
                    *quotes.row(at, "count n_questions", "count n_times"),
                    "(verdict)" if controller.only_judges else _changed(branch, at, quotes),
                )
            )
    return Grid(("controller", "branch", "questions", "times", "changed"), tuple(rows), n_names=2)


def _changed(branch: BranchSummary, at: str, quotes: Quotes) -> Entry:
    """What a branch changed and how often; `nothing` marks one that has no effect."""
    parts: list[str | Quote] = []
    for what, count in (("evidence", branch.evidence), ("query", branch.query), ("answer", branch.answer)):
        if count:
            parts += [f"{', ' if parts else ''}{what} ", quotes.quote("count", f"{at}.{what}")]
    return tuple(parts) or "nothing"


def controller_notes(cell: CellSummary) -> Iterator[str]:
    """A sentence on every controller that decided nothing, and on judgements of several tiers."""
    for controller in cell.controllers:
        if controller.node == FIT:  # the model's window decides, and a validity warning says so
            continue
        if controller.never_changed_anything and controller.always is not None:
            yield f"{controller.node} took {controller.always} on every question and never changed anything."
        elif controller.never_changed_anything:
            yield f"{controller.node} never changed anything: the controller is a no-op here."
        elif controller.always is not None:
            yield f"{controller.node} took {controller.always} on every question: it decides nothing here."
    if len(cell.judgements) > 1:
        counts = ", ".join(f"{count:,} at {tier}" for tier, count in sorted(cell.judgements.items()))
        yield f"Judgements were {counts}: the cell counts as {cell.fidelity_tier}, the lowest."


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
        f"{grader.node}: precision {ratio_text(grader.precision)} (approving all: {ratio_text(grader.base_rate)}), "
        f"recall {ratio_text(grader.recall)}; {grader.n_judged:,} verdicts, {grader.n_gold:,} on gold{undecided}."
    )


def _router(standard: str, confusion: RouteConfusion) -> str:
    wrong = ", ".join(
        f"{count.needed} sent {count.taken} {count.n:,}" for count in confusion.counts if count.needed != count.taken
    )
    return (
        f"routing against {standard}: right for {ratio_text(confusion.agreement)} of {confusion.n:,}, too cheap for "
        f"{confusion.n_cheaper:,}, too dear for {confusion.n_dearer:,}" + (f" ({wrong})." if wrong else ".")
    )


def _rewriting(rewriting: RewriteScores) -> str:
    before, after = ratio_text(rewriting.recall_before), ratio_text(rewriting.recall_after)
    return (
        f"asking in other words: recall {before} before, {after} after (gain {ratio_text(rewriting.gain)}), "
        f"{ratio_text(rewriting.recall_alone)} of the last query alone; {counted(rewriting.n_questions, 'question')}."
    )
