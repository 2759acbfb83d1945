"""What each model knows of the answers without documents, and what the cells add to that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.leaderboard.build import Leaderboard
from arena.leaderboard.contamination import PROBED, ContaminationProbe, ProbedGroup, Remembered
from arena.report.figures import Quotes, path_of
from arena.report.names import Mark, is_invented
from arena.report.section import Block, Entry, Grid, Line, Section, lines
from arena.types import grouped

SHORT = {"answer_em": "EM", "answer_f1": "F1", "answer_contains": "contains", "answer_accuracy": "accuracy"}
"""Metric -> what it is called in a table."""

_PROBED = ("count own.n", "metric own", "ratio chance", "signed above", "interval ci_low ci_high", "p p_adjusted")

_FILTERED = "ragrouter"

_LEGEND = (
    "what closed_book answers without any document. chance: the same answers scored against the gold of other "
    "questions of their kind. p: one-sided, by dealing the gold to the questions at random; Holm over the metrics, and "
    "apart from that over all that is broken down."
)


def contamination(board: Leaderboard, marks: Sequence[Mark]) -> Section | None:
    """A block for each model and one for the gains; None for a board without models, or of before they were probed."""
    if not board.contamination:
        return None
    quotes = Quotes(board)
    blocks = [_probe(place, probe, quotes) for place, probe in enumerate(board.contamination)]
    if gains := _gains(marks, quotes):
        blocks.append(gains)
    origin = origin_note(board)
    legend = _LEGEND if any(probe.groups for probe in board.contamination) else ""
    return Section("Contamination", legend, tuple(blocks), notes=((origin,),) if origin else ())


def _probe(place: int, probe: ContaminationProbe, quotes: Quotes) -> Block:
    """The verdict on one model, and a row per group of questions and metric."""
    rows: tuple[tuple[Entry, ...], ...] = tuple(
        (
            group_name(group),
            SHORT[name],
            *quotes.row(path_of("contamination", place, "groups", row, "metrics", name), *_PROBED),
        )
        for row, group in enumerate(probe.groups)
        for name, one in group.metrics.items()
        if one.own.coverage is not None
    )
    headings = ("questions", "metric", "n", "closed_book", "chance", "above chance", "95% interval", "p (Holm)")
    left_out = left_out_note(probe)
    return Block(
        lead=verdict(place, probe, quotes),
        grid=Grid(headings, rows, n_names=2) if rows else None,
        notes=((left_out,),) if left_out else (),
        folded="closed_book against chance",
    )


def verdict(place: int, probe: ContaminationProbe, quotes: Quotes) -> Line:
    """One sentence on what a model knows of these answers, and what follows for the gains of the others."""
    if probe.finding == "not_probed":
        return (f"{probe.llm}: not probed; add closed_book to the strategies to see what it knows without documents.",)
    if probe.withheld is not None:
        return (f"{probe.llm}: no verdict: closed_book {probe.withheld}.",)
    whole, at = probe.groups[0].metrics, path_of("contamination", place, "groups", 0, "metrics")
    exact = (
        "exact match ", quotes.quote("metric", f"{at}.answer_em.own"),
        ", chance ", quotes.quote("ratio", f"{at}.answer_em.chance"),
        *_least_p(whole, at, quotes),
    )  # fmt: skip
    if probe.finding == "chance":
        return (
            f"{probe.llm} answers these questions no better than chance without documents (", *exact,
            "): nothing shows that it knows them, and the interval says how many it may know all the same.",
        )  # fmt: skip
    share = quotes.quote("share", f"{at}.answer_em.own.mean")
    return (f"{probe.llm} knows ", share, " of these answers without documents (", *exact, "): gains are over that.")


def origin_note(board: Leaderboard) -> str | None:
    """What is known of the data themselves; None where nothing is."""
    if is_invented(board):
        return "This world was invented and no model can have read of it: anything but chance is a flaw of the data."
    if board.dataset.name.partition(":")[0] == _FILTERED:
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


def _least_p(metrics: Mapping[str, Remembered], at: str, quotes: Quotes) -> Line:
    tested = {name: one.p_adjusted for name, one in metrics.items() if one.p_adjusted is not None}
    if not tested:
        return ()
    name = min(tested, key=lambda one: tested[one])
    return f", least p of {len(tested)} metrics ", quotes.quote("p", f"{at}.{name}.p_adjusted")


def _gains(marks: Sequence[Mark], quotes: Quotes) -> Block | None:
    """A row per cell that has a gain, and a sentence per metric and reason why gains are withheld.

    A metric in which no cell has any is left out.
    """
    gains = {mark: quotes.board.cells[mark.place].gain_over_closed_book for mark in marks}
    known = {mark: [name for name, one in of.items() if one.withheld is None] for mark, of in gains.items()}
    metrics = [name for name in PROBED if any(name in names for names in known.values())]
    figures = [
        one for name in metrics for one in (f"signed {name}.difference", f"interval {name}.ci_low {name}.ci_high")
    ]
    rows: list[tuple[Entry, ...]] = [
        (mark, *quotes.row(path_of("cells", mark.place, "gain_over_closed_book"), *figures))
        for mark in marks
        if known[mark]
    ]
    withheld = grouped(
        ((metric, one.withheld), mark.name)
        for mark, of in gains.items()
        for metric, one in of.items()
        if one.withheld is not None
    )
    notes = lines(
        f"gain in {metric} withheld, {reason}: {', '.join(cells)}." for (metric, reason), cells in withheld.items()
    )
    headings = ("cell", *(heading for name in metrics for heading in (SHORT[name], "95% interval")))
    heading = ("Gain over closed_book of the same model, on the same questions",)
    return Block(heading, grid=Grid(headings, tuple(rows)) if rows else None, notes=notes) if rows or notes else None
