"""`arena papers compare`: a run beside the published figures on the same dataset.

Seven settings decide whether two figures may be held side by side. Each is equal, differs, or is not known to be
either. All equal: comparable. Any that differs: reference only. Else near: nothing is known to differ, and something
that neither the paper nor the run says might. Our side is read from the leaderboard, and where that does not suffice
from the plan and the data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from arena.datasets import load_dataset
from arena.errors import DatasetError, RunStoreError
from arena.leaderboard.build import Leaderboard, read_leaderboard
from arena.leaderboard.cells import CellSummary
from arena.leaderboard.schema import MetricSummary
from arena.report.source import Badge, PaperComparison
from arena.store import LEADERBOARD, RunStore
from experiments.studies.papers.numbers import MUSIQUE_DEV, PublishedNumber, draw, published_datasets, published_numbers
from experiments.studies.papers.settings import (
    Counterpart,
    Measure,
    NoCounterpart,
    PaperSettings,
    Questions,
    Reader,
    settings_of,
)

_QUANTISED = re.compile(
    r"[-_.](?:awq|gptq|gguf|fp8|fp16|bf16|int[48]|[48]bit|w\d+a\d+|i?q\d(?:[-_]\w+)*|bnb(?:[-_]\w+)*)$"
)


@dataclass(frozen=True)
class OurRun:
    """A run that has a leaderboard."""

    store: RunStore
    board: Leaderboard

    @classmethod
    def read(cls, store: RunStore) -> OurRun:
        """Raises `RunStoreError` where there is no leaderboard, or a damaged one."""
        return cls(store, read_leaderboard(store))

    @cached_property
    def drawn(self) -> frozenset[str] | None:
        """The test questions of IRCoT, drawn from this run's data; None where these cannot be had as they were."""
        asked = self.board.dataset
        try:
            found = load_dataset(self.store.data_at or asked.name)
            same = found.fingerprint == asked.fingerprint
            return frozenset(draw([one.question_id for one in found.questions])) if same else None
        except DatasetError:
            return None

    @cached_property
    def asked(self) -> dict[str, frozenset[str]]:
        """Cell key -> the ids of its questions; empty where the run has no plan."""
        try:
            cells = self.store.plan().cells
        except RunStoreError:
            return {}
        return {planned.cell.key: frozenset(planned.question_ids) for planned in cells}

    def judges_of(self, metric: str) -> tuple[str, ...]:
        """Who judged by `metric`."""
        return tuple(card.judge for card in self.board.judges if card.metric == metric)


def summary_of(cell: CellSummary, measure: Measure) -> MetricSummary | None:
    """The cell's own figure by `measure`; None where it has none."""
    if measure.ours == "retrievals_per_question":
        mean = cell.retrievals_per_question
        if mean is None:
            return None
        return MetricSummary(mean=mean, ci_low=None, ci_high=None, n=cell.n_questions, coverage=1.0)
    over = cell.metrics if measure.kind is None else cell.breakdown.get("kind", {}).get(measure.kind, {})
    summary = over.get(measure.ours)
    return summary if summary is not None and summary.coverage is not None else None


def retrieves(cell: CellSummary) -> bool:
    """Whether any question of the cell was looked up."""
    return cell.retrieval_mode != "none" and bool(cell.retrievals_per_question)


def bare_name(model: str) -> tuple[str, bool]:
    """A model's name without provider, owner, commit and file ending, in lower case; whether quantisation was cut off.

    A model of the hub is identified as ORG/NAME@COMMIT; which commit it is does not change whose model it is.
    """
    name = re.split(r"[/\\]", model.partition(":")[2] or model)[-1].partition("@")[0].lower().removesuffix(".gguf")
    bare = _QUANTISED.sub("", name)
    return bare, bare != name or model.lower().endswith(".gguf")


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


def compare_with_papers(run_folder: Path, data_at: str | None = None) -> tuple[PaperComparison, ...]:
    """Every published result on a dataset of the run's name, each beside the cell whose settings differ least.

    Of cells that differ in as many settings, the first. A system that no strategy here is, or none of the run, has no
    cell. Empty where no paper used such a dataset, and where the run has no leaderboard yet.
    `data_at`: where its dataset lies now (None: where its settings say).

    Raises:
        RunStoreError: there is no run, or its leaderboard is damaged.
    """
    store = RunStore.open(run_folder, data_at)
    if not (store.folder / LEADERBOARD).exists():
        return ()
    run = OurRun.read(store)
    names = published_datasets(run.board.dataset.name)
    rows = []
    for number in published_numbers():
        settings = settings_of(number) if number.dataset in names else None
        if isinstance(settings, NoCounterpart):
            rows.append(_alone(number, f"system: {number.system} / {settings.reason}", number.source))
        elif settings is not None:
            rows.append(_beside(number, settings, run))
    return tuple(rows)


def _beside(number: PublishedNumber, settings: PaperSettings, run: OurRun) -> PaperComparison:
    cells = [cell for cell in run.board.cells if any(_is(cell, one) for one in settings.counterparts)]
    source = f"{number.source}; settings: {settings.source}"
    if not cells:
        wanted = " or ".join(map(str, settings.counterparts))
        return _alone(number, f"system: {number.system} / no cell of the run is {wanted}", source)
    cell, both = min(
        ((cell, settings_beside(settings, cell, run)) for cell in cells), key=lambda one: _n_unequal(one[1])
    )
    badge, ours = badge_of(both), summary_of(cell, settings.measure)
    return replace(
        _alone(number, "", source),
        cell=cell.cell,
        ours=ours,
        badge=badge,
        differs=tuple(str(setting) for setting in both if setting.relation != "equal"),
        inside=_inside(number, ours) if badge == "comparable" else None,
    )


def _n_unequal(settings: Sequence[Setting]) -> tuple[int, int]:
    """How many settings differ, and how many are not known to be equal."""
    relations = [setting.relation for setting in settings]
    return relations.count("differs"), relations.count("unknown")


def _is(cell: CellSummary, counterpart: Counterpart) -> bool:
    wanted = counterpart.params.items()
    return cell.strategy == counterpart.strategy and all(cell.params.get(name) == value for name, value in wanted)


def _inside(number: PublishedNumber, ours: MetricSummary | None) -> bool | None:
    """Whether the published figure lies in our interval; None where there is no interval."""
    if ours is None or ours.ci_low is None or ours.ci_high is None:
        return None
    return ours.ci_low <= number.ratio[0] <= ours.ci_high


def _alone(number: PublishedNumber, why: str, source: str) -> PaperComparison:
    """The figure without a cell of ours. `why` there is none."""
    value, unit = number.ratio
    return PaperComparison(
        paper=number.paper,
        table=number.table,
        dataset=number.dataset,
        system=f"{number.system}, {number.llm}",
        metric=number.metric,
        unit=unit,
        published=value,
        cell=None,
        ours=None,
        badge="reference only",
        differs=(why,),
        suspicious=number.suspicious,
        source=source,
    )
