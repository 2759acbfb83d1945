"""What a contamination probe says, in words: the same in a terminal and on a page.

What models know without documents, and what cells add to it, below the leaderboard.

What each model knows of the answers without documents, and what the cells add to that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.contamination import PROBED, ContaminationProbe, ProbedGroup, Remembered
from arena.leaderboard.gap import ClosedBookGain
from arena.report.figures import (
    UNDEFINED,
    Phrase,
    Quotes,
    metric_text,
    p_text,
    path_of,
    ratio_text,
    share_text,
    signed_interval_text,
    signed_text,
)
from arena.report.names import Mark, names_of, short_names
from arena.report.section import Entry, Grid
from arena.report.text import Part, Rows, print_parts

SHORT = {"answer_em": "EM", "answer_f1": "F1", "answer_contains": "contains", "answer_accuracy": "accuracy"}
"""Metric -> what it is called in a table."""

_INVENTED, _FILTERED = "world", "ragrouter"

NOTE = (
    "Contamination: closed_book answers without any document. chance: the same answers scored against the gold of "
    "other questions of their kind. p: one-sided, by dealing the gold to the questions at random; Holm over the "
    "metrics, and apart from that over all that is broken down."
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in a sentence: where it stands in the probe, the rule by which it is rounded, and its text."""

    path: tuple[str | int, ...]
    rule: str
    text: str


Words = tuple[str | Figure, ...]


def plain(words: Words) -> str:
    """The sentence as text."""
    return "".join(part if isinstance(part, str) else part.text for part in words)


def verdict(probe: ContaminationProbe) -> Words:
    """One sentence on what a model knows of these answers, and what follows for the gains of the others."""
    if probe.finding == "not_probed":
        return (f"{probe.llm}: not probed; add closed_book to the strategies to see what it knows without documents.",)
    if probe.withheld is not None:
        return (f"{probe.llm}: no verdict: closed_book {probe.withheld}.",)
    whole = probe.groups[0].metrics
    em, at = whole["answer_em"], ("groups", 0, "metrics", "answer_em")
    exact = (
        "exact match ", Figure((*at, "own"), "metric", metric_text(em.own)),
        ", chance ", Figure((*at, "chance"), "ratio", ratio_text(em.chance)),
        *_least_p(whole),
    )  # fmt: skip
    if probe.finding == "chance":
        return (
            f"{probe.llm} answers these questions no better than chance without documents (", *exact,
            "): nothing shows that it knows them, and the interval says how many it may know all the same.",
        )  # fmt: skip
    share = Figure((*at, "own", "mean"), "share", share_text(em.own.mean))
    return (f"{probe.llm} knows ", share, " of these answers without documents (", *exact, "): gains are over that.")


def origin_note(board: Leaderboard) -> str | None:
    """What is known of the data themselves; None where nothing is."""
    name = board.dataset.name.partition(":")[0]
    if name == _INVENTED:
        return "This world was invented and no model can have read of it: anything but chance is a flaw of the data."
    if name == _FILTERED:
        return (
            "Questions that a language model answered alone were taken out when RAGRouter-Bench was made: closed_book "
            "near 0 is so by construction, and says nothing about strategies that answer without retrieval."
        )
    return None


def left_out_note(probe: ContaminationProbe) -> str | None:
    """Which kinds have no short answer to know; None where all do."""
    if not probe.left_out:
        return None
    counts = " and ".join(f"{count:,} {kind}" for kind, count in probe.left_out.items())
    return (
        f"Left out of the probe: {counts} questions. To an unanswerable one abstaining is right, and the words of a "
        "summary tell style, not knowledge."
    )


def group_name(group: ProbedGroup) -> str:
    """As in `all`, `multi_hop`, `3 hops`."""
    if group.by == "all":
        return "all"
    return f"{group.value} hop{'s'[: group.value != '1']}" if group.by == "hops" else group.value


def _least_p(metrics: Mapping[str, Remembered]) -> Words:
    tested = {name: one.p_adjusted for name, one in metrics.items() if one.p_adjusted is not None}
    if not tested:
        return ()
    name = min(tested, key=lambda one: tested[one])
    figure = Figure(("groups", 0, "metrics", name, "p_adjusted"), "p", p_text(tested[name]))
    return f", least p of {len(tested)} metrics ", figure


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
