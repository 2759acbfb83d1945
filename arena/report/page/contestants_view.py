"""The contestants beside their papers: what is done here of each clause, and published figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.report.figures import ratio_text
from arena.report.leaderboard import Leaderboard
from arena.report.page.grids import Entry, Grid
from arena.report.page.marks import Mark
from arena.report.page.quoted import Quotes, path_of
from arena.report.page.source import FidelityCard, PaperComparison

_INSIDE = {True: "inside our interval", False: "outside our interval", None: ""}
RATIO = "ratio"


@dataclass(frozen=True, slots=True)
class CardView:
    """A fidelity card. `ran_at`: cell -> the tier its judgements were of, where it has one."""

    card: FidelityCard
    ran_at: tuple[tuple[Mark, str], ...]
    grid: Grid


def card_views(board: Leaderboard, marks: Sequence[Mark], cards: Sequence[FidelityCard]) -> tuple[CardView, ...]:
    """One per card, in their order."""
    return tuple(
        CardView(
            card,
            tuple(
                (mark, tier)
                for mark in marks
                if mark.strategy == card.strategy and (tier := board.cells[mark.place].fidelity_tier)
            ),
            Grid(("the paper says", "here", "how, or why not"), card.clauses, n_names=3),
        )
        for card in cards
    )


def papers_grid(board: Leaderboard, marks: Sequence[Mark], papers: Sequence[PaperComparison]) -> Grid | None:
    """A row per published figure; None where there is none for this data."""
    if not papers:
        return None
    quotes = Quotes(board)
    places = {cell.cell: place for place, cell in enumerate(board.cells)}
    headings = ("paper", "system", "metric", "published", "our cell", "ours", "standing", "what differs")
    rows = tuple(_row(one, places, marks, quotes) for one in papers)
    return Grid(headings, rows, n_names=3)


def _row(one: PaperComparison, places: dict[str, int], marks: Sequence[Mark], quotes: Quotes) -> tuple[Entry, ...]:
    place = places.get(one.cell or "")
    ours: Entry = "\N{EN DASH}"
    if one.ours is not None and place is not None:
        metric = next((name for name, found in quotes.board.cells[place].metrics.items() if found == one.ours), None)
        ours = (
            quotes.quote("metric", path_of("cells", place, "metrics", metric)) if metric else ratio_text(one.ours.mean)
        )
    inside = _INSIDE[one.inside]
    doubt = f"doubted: {one.suspicious}" if one.suspicious else ""
    return (
        f"{one.paper}, {one.table}",
        f"{one.system} on {one.dataset}",
        one.metric,
        ratio_text(one.published) if one.unit == RATIO else f"{one.published:g} {one.unit}",
        marks[place] if place is not None else "\N{EN DASH}",
        ours,
        "; ".join(filter(None, (one.badge, inside, doubt))),
        "; ".join(one.differs) or "nothing that is known",
    )
