"""How far the judges can be trusted, and who abstains where."""

from __future__ import annotations

from collections.abc import Sequence

from arena.report.judge_card import JudgeCard
from arena.report.leaderboard import Leaderboard
from arena.report.page.grids import Entry, Grid
from arena.report.page.marks import Mark
from arena.report.page.quoted import Quotes, path_of

ABSTENTION = ("correct_abstention", "unsupported_claim", "false_abstention")


def judges_grid(board: Leaderboard) -> Grid | None:
    """A row per judge and metric; None where nothing was judged."""
    if not board.judges:
        return None
    quotes = Quotes(board)
    headings = ("judge", "metric", "judged", "due", "mean", "sd of repeats", "split", "agrees with EM", "kappa",
                "with people", "kappa", "calls", "USD")  # fmt: skip
    rows = tuple(_row(number, card, quotes) for number, card in enumerate(board.judges))
    return Grid(headings, rows, n_names=2)


def abstention_grid(board: Leaderboard, marks: Sequence[Mark]) -> Grid | None:
    """A row per cell that writes answers; None where every question has an answer and no cell abstained."""
    tempted = any(cell.n_abstained or _defined(board, mark.place, ABSTENTION[0]) for cell, mark in
                  zip(board.cells, marks, strict=True))  # fmt: skip
    shown = [mark for mark in marks if any(_defined(board, mark.place, one) for one in ABSTENTION)]
    if not tempted or not shown:
        return None
    quotes = Quotes(board)
    rows: tuple[tuple[Entry, ...], ...] = tuple(
        (mark, *(quotes.quote("metric", path_of("cells", mark.place, "metrics", one)) for one in ABSTENTION))
        for mark in shown
    )
    return Grid(
        ("cell", "abstains where nobody can answer", "answers all the same", "abstains on the answerable"), rows
    )


def _row(number: int, card: JudgeCard, quotes: Quotes) -> tuple[Entry, ...]:
    at = path_of("judges", number)
    agreements = {
        one.other: path_of("judges", number, "agreements", place) for place, one in enumerate(card.agreements)
    }
    em, people = agreements.get("answer_em", "none"), agreements.get("human", "none")
    return (
        card.judge,
        card.metric,
        quotes.quote("count", f"{at}.judged"),
        quotes.quote("count", f"{at}.due"),
        quotes.quote("ratio", f"{at}.mean"),
        quotes.quote("ratio", f"{at}.own_sd"),
        quotes.quote("share", f"{at}.split_share"),
        quotes.quote("share", f"{em}.share"),
        quotes.quote("ratio", f"{em}.kappa"),
        quotes.quote("share", f"{people}.share"),
        quotes.quote("ratio", f"{people}.kappa"),
        quotes.quote("count", f"{at}.calls"),
        quotes.quote("usd", f"{at}.usd"),
    )


def _defined(board: Leaderboard, place: int, metric: str) -> bool:
    summary = board.cells[place].metrics.get(metric)
    return summary is not None and summary.coverage is not None
