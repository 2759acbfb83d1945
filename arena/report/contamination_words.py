"""What a contamination probe says, in words: the same in a terminal and on a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.report.contamination import ContaminationProbe, ProbedGroup, Remembered
from arena.report.figures import metric_text, p_text, ratio_text, share_text
from arena.report.leaderboard import Leaderboard

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
