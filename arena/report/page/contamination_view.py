"""What each model knows of the answers without documents, and what the cells add to that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arena.report.contamination import PROBED
from arena.report.contamination_words import SHORT, group_name, left_out_note, origin_note, verdict
from arena.report.leaderboard import Leaderboard
from arena.report.page.grids import Entry, Grid
from arena.report.page.marks import Mark
from arena.report.page.quoted import Phrase, Quotes, path_of


@dataclass(frozen=True, slots=True)
class ProbeView:
    """One model. `grid`: by questions and metric, None where it was not probed."""

    verdict: Phrase
    grid: Grid | None
    left_out: str | None


@dataclass(frozen=True, slots=True)
class ContaminationView:
    """The probes, what is known of the data, and the gains of the cells (None: no cell has any)."""

    probes: tuple[ProbeView, ...]
    origin: str | None
    gains: Grid | None


def contamination_view(board: Leaderboard, marks: Sequence[Mark]) -> ContaminationView | None:
    """None for a board without models, and for one of before models were probed."""
    if not board.contamination:
        return None
    quotes = Quotes(board)
    probes = tuple(_probe(place, quotes) for place in range(len(board.contamination)))
    return ContaminationView(probes, origin_note(board), _gains(marks, quotes))


def _probe(place: int, quotes: Quotes) -> ProbeView:
    probe = quotes.board.contamination[place]
    words = tuple(
        part if isinstance(part, str) else quotes.quote(part.rule, path_of("contamination", place, *part.path))
        for part in verdict(probe)
    )
    rows = tuple(
        (
            group_name(group),
            SHORT[name],
            *_figures(path_of("contamination", place, "groups", row, "metrics", name), quotes),
        )
        for row, group in enumerate(probe.groups)
        for name, one in group.metrics.items()
        if one.own.coverage is not None
    )
    headings = ("questions", "metric", "n", "closed_book", "chance", "above chance", "95% interval", "p (Holm)")
    return ProbeView(words, Grid(headings, rows, n_names=2) if rows else None, left_out_note(probe))


def _figures(at: str, quotes: Quotes) -> tuple[Entry, ...]:
    return (
        quotes.quote("count", f"{at}.own.n"),
        quotes.quote("metric", f"{at}.own"),
        quotes.quote("ratio", f"{at}.chance"),
        quotes.quote("signed", f"{at}.above"),
        quotes.quote("interval", f"{at}.ci_low", f"{at}.ci_high"),
        quotes.quote("p", f"{at}.p_adjusted"),
    )


def _gains(marks: Sequence[Mark], quotes: Quotes) -> Grid | None:
    gained = {mark: quotes.board.cells[mark.place].gain_over_closed_book for mark in marks}
    metrics = [name for name in PROBED if any(name in one and one[name].withheld is None for one in gained.values())]
    rows = tuple(
        (mark, *(entry for name in metrics for entry in _gain(mark, name, quotes)))
        for mark, one in gained.items()
        if any(name in one for name in metrics)
    )
    headings = ("cell", *(heading for name in metrics for heading in (SHORT[name], "95% interval")))
    return Grid(headings, rows) if rows else None


def _gain(mark: Mark, metric: str, quotes: Quotes) -> tuple[Entry, ...]:
    at = path_of("cells", mark.place, "gain_over_closed_book", metric)
    return (
        quotes.quote("signed", f"{at}.difference"),
        quotes.quote("interval", f"{at}.ci_low", f"{at}.ci_high"),
    )
