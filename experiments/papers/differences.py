"""The seven settings that decide whether two figures may be held side by side, theirs against ours.

A setting is equal, differs, or is not known to be either. All equal: comparable. Any that differs: reference only.
Else near: nothing is known to differ, and something that neither the paper nor the run says might.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arena.leaderboard.cells import CellSummary
from arena.report.source import Badge
from experiments.papers.drawn import MUSIQUE_DEV
from experiments.papers.our_run import OurRun, bare_name, retrieves, summary_of
from experiments.papers.settings.shape import Measure, PaperSettings, Questions, Reader

Relation = Literal["equal", "differs", "unknown"]
_NONE = "none"
_ACCURACY = "answer_accuracy"
_ROUTER = "router"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of both."""

    name: str
    theirs: str
    ours: str
    relation: Relation

    def __str__(self) -> str:
        doubt = " (not known whether the same)" if self.relation == "unknown" else ""
        return f"{self.name}: {self.theirs} / {self.ours}{doubt}"


def settings_beside(theirs: PaperSettings, cell: CellSummary, run: OurRun) -> tuple[Setting, ...]:
    """Reader, retriever, k, corpus, question set, metric and tier, in this order."""
    return (
        _reader(theirs.reader, cell),
        *_retrieval(theirs, cell),
        _corpus(theirs, cell, run),
        _questions(theirs, cell, run),
        _metric(theirs.measure, cell, run),
        _tier(theirs.trained, cell),
    )


def badge_of(settings: Sequence[Setting]) -> Badge:
    """How far the figures may be held side by side."""
    relations = {setting.relation for setting in settings}
    if "differs" in relations:
        return "reference only"
    return "near" if "unknown" in relations else "comparable"


def _reader(theirs: Reader, cell: CellSummary) -> Setting:
    ours = cell.llm or _NONE
    name, quantised = bare_name(ours)
    if name in theirs.names:
        return Setting("reader", theirs.said, ours, "unknown" if quantised else "equal")
    return Setting("reader", theirs.said, ours, "unknown" if name in theirs.maybe else "differs")


def _retrieval(theirs: PaperSettings, cell: CellSummary) -> tuple[Setting, Setting]:
    wanted, does = theirs.retriever, retrieves(cell)
    ours = f"{cell.params.get('embedder')}, {cell.retrieval_mode}" if does else _NONE
    k = cell.params.get("k") if does else None
    if wanted is None:
        same: Relation = "differs" if does else "equal"
        return Setting("retriever", _NONE, ours, same), Setting("k", _NONE, str(k or _NONE), same)
    embedder = bare_name(str(cell.params.get("embedder")))[0]
    found = does and cell.retrieval_mode == "dense" and embedder in wanted.embedders
    return (
        Setting("retriever", wanted.said, ours, "equal" if found else "differs"),
        Setting("k", wanted.k_said, str(k or _NONE), "equal" if k is not None and k == wanted.k else "differs"),
    )


def _corpus(theirs: PaperSettings, cell: CellSummary, run: OurRun) -> Setting:
    wanted, does = theirs.corpus, retrieves(cell)
    if wanted is None or not does:
        said = wanted.said if wanted else _NONE
        ours = f"{run.board.dataset.n_documents:,} documents" if does else _NONE
        return Setting("corpus", said, ours, "equal" if wanted is None and not does else "differs")
    n_documents, chunk = run.board.dataset.n_documents, cell.params.get("chunk_tokens")
    ours = f"{n_documents:,} documents" + (f" in chunks of {chunk} tokens" if chunk else "")
    external = cell.params.get("external_corpus") or cell.params.get("external_tool")
    ours += ", and a second source" if external else ""
    if wanted.n_documents is not None and n_documents < wanted.n_documents:
        ours += ", fewer and so easier to search"
    chunked = (chunk, cell.params.get("chunk_overlap") or 0) if chunk else None
    if chunked != wanted.chunk or bool(external) != wanted.web or wanted.n_documents not in (None, n_documents):
        return Setting("corpus", wanted.said, ours, "differs")
    return Setting("corpus", wanted.said, ours, "unknown" if wanted.n_documents is None else "equal")


def _questions(theirs: PaperSettings, cell: CellSummary, run: OurRun) -> Setting:
    wanted, kind = theirs.questions, theirs.measure.kind
    summary = summary_of(cell, theirs.measure) if kind else None
    if kind and summary is None:
        return Setting("question set", wanted.said, f"no figure over {kind} questions", "differs")
    n = summary.n if summary else cell.n_questions
    whose = f"{n:,} {kind} questions" if kind else f"{n:,} questions"
    return Setting("question set", wanted.said, whose, _asked(wanted, n, cell, run, whole=kind is None))


def _asked(wanted: Questions, n: int, cell: CellSummary, run: OurRun, *, whole: bool) -> Relation:
    """`whole`: the figure is over all questions of a cell, and not over one kind of them."""
    if n != wanted.n or (wanted.chosen == "all" and whole and run.board.dataset.n_questions != n):
        return "differs"
    if wanted.chosen == "all":
        return "equal"
    if wanted.chosen == "unsaid":
        return "unknown"
    asked = run.board.dataset
    if asked.name.partition(":")[0] == "musique" and asked.n_questions != MUSIQUE_DEV:
        return "differs"
    ids = run.asked.get(cell.cell)
    if run.drawn is None or ids is None:
        return "unknown"
    return "equal" if ids == run.drawn else "differs"


def _metric(theirs: Measure, cell: CellSummary, run: OurRun) -> Setting:
    if summary_of(cell, theirs) is None:
        why = "no judge" if theirs.ours == _ACCURACY and not run.judges_of(_ACCURACY) else f"no {theirs.ours}"
        return Setting("metric", theirs.said, f"{why} in this cell", "differs")
    if invalid := cell.invalid(theirs.ours):
        return Setting("metric", theirs.said, f"invalid, {invalid}", "differs")
    if theirs.ours_said is None:
        return Setting("metric", theirs.said, theirs.said, "equal")
    judges = run.judges_of(theirs.ours)
    return Setting("metric", theirs.said, " by ".join((theirs.ours_said, *judges[:1])), "differs")


def _tier(trained: bool, cell: CellSummary) -> Setting:
    said = "T2, a model trained for it" if trained else "nothing trained"
    ours = cell.fidelity_tier or "nothing trained"
    if trained and cell.fidelity_tier == "T2" and cell.params.get("policy") == _ROUTER:
        # Trained here, on labels of another reader, and it may be another kind of model than the paper's.
        return Setting("tier", said, f"{ours}, a router trained here", "unknown")
    same = cell.fidelity_tier == "T2" if trained else cell.fidelity_tier in (None, "T0")
    return Setting("tier", said, ours, "equal" if same else "differs")
