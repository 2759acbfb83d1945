"""Run one point of a sweep: what another point has is taken over, the rest is asked.

Two points share the records of a cell where everything that the records depend on agrees. A retrieval of fewer hits is
cut out of one of more. `arena sweep --dry-run` says of every point what another has, and what the rest would cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from arena.config import RunConfig, fingerprint, validate_config
from arena.leaderboard.build import Leaderboard
from arena.plan import Key, PlannedCell, RunPlan
from arena.report.names import name_of
from arena.store import FINISHED, RECORDS, VERDICTS, RunStore, key_of
from arena.store.journal import RECORD_LINES, VERDICT_LINES, LineFormat, encode, scan
from arena.types import Answer, Cell, Retrieval, RunRecord, ShownDocument, sum_known
from experiments.execution.dry_run import dry_run
from experiments.execution.expectation import Figures
from experiments.execution.identity import line_fingerprints
from experiments.execution.manifest import library_versions, new_manifest
from experiments.execution.prepare import Prepared
from experiments.execution.process import now
from experiments.execution.start import finish, resume, start
from experiments.studies.folder import SweepFolder
from experiments.studies.sweep.config import PointPreparer, SweepPoint, is_done
from experiments.terminal.progress import Reporter
from indexing.modes import DEPTH, MODES


def cut_record(record: RunRecord, cell: Cell, k: int) -> RunRecord | None:
    """What `cell`, which is `record.cell` with `k` hits, would have recorded of the same question.

    None where the record is no single retrieval that did not fail. Seconds stay as they were, and it is not `timed`:
    the engine did the same work, but nobody timed this cell.
    """
    if record.answer is None or len(record.retrievals) != 1 or record.calls or record.decisions:
        return None
    retrieval = cut_retrieval(record.retrievals[0], k)
    ids = tuple(dict.fromkeys(hit.doc_id for hit in retrieval.hits))
    answer = replace(record.answer, retrieved_ids=ids, used_ids=ids, shown=_cut_shown(record.answer, retrieval))
    return replace(record, cell=cell, answer=answer, retrievals=(retrieval,), timed=False)


def _cut_shown(answer: Answer, retrieval: Retrieval) -> tuple[ShownDocument, ...] | None:
    """What the hits that are left show of each document: their pieces of it, or all of it."""
    if answer.shown is None:
        return None
    known = {one.doc_id: one for one in answer.shown}
    spans: dict[str, list[tuple[int, int]]] = {}
    for hit in retrieval.hits:
        spans.setdefault(hit.doc_id, []).extend(() if hit.span is None else (hit.span,))
    return tuple(replace(known[one], spans=tuple(kept)) if kept else known[one] for one, kept in spans.items())


def cut_retrieval(retrieval: Retrieval, k: int) -> Retrieval:
    """The first `k` of its hits; those after them come first in `beyond`. What a threshold dropped stays dropped."""
    left = tuple(hit.passage_id for hit in retrieval.hits[k:])
    return replace(
        retrieval,
        request=replace(retrieval.request, k=k),
        hits=retrieval.hits[:k],
        beyond=(*left, *retrieval.beyond),
    )


CUT_STRATEGY = "retrieval_only"
"""Its records are hits and nothing that was made of them, so that fewer hits are a prefix of more."""

_SPEED = ("concurrency", "question_timeout_seconds")
_LLM_SPEED = (
    *("timeout_seconds", "max_attempts", "concurrency", "requests_per_minute", "tokens_per_minute"),
    *("breaker_failures", "cache"),
)


@dataclass(frozen=True, slots=True)
class CellIdentity:
    """A planned cell of one point. Whatever has the same `whole` has the same records.

    `but_k`: the same without the number of hits; None where a retrieval of k' < k hits is not known to be the first k'
    of one of k hits.
    """

    planned: PlannedCell
    whole: str
    but_k: str | None

    @property
    def k(self) -> int:
        """Hits wanted of a retrieval; of cells with a `but_k` only."""
        return int(self.planned.cell.params["k"] or 0)


def of_prepared(prepared: Prepared) -> tuple[CellIdentity, ...]:
    """The cells of a run that is about to be made, under the libraries of this process."""
    return _identities(prepared.config, prepared.identity, prepared.plan, library_versions())


def of_store(store: RunStore) -> tuple[CellIdentity, ...]:
    """The cells of a run as its folder has them. Raises `RunStoreError`, `ConfigError` where it is damaged."""
    manifest = store.manifest()
    config = validate_config(manifest["config"], f"run {store.run_id!r}")
    return _identities(config, manifest["identity"], store.plan(), manifest.get("libraries", {}))


def cuts(larger: CellIdentity, smaller: CellIdentity) -> bool:
    """Whether records of `smaller` are those of `larger` cut off: the engine is asked the very same, for more hits."""
    if larger.but_k is None or larger.but_k != smaller.but_k or larger.k <= smaller.k:
        return False
    mode = smaller.planned.cell.retrieval_mode
    # Fused lanes are asked for their depth whatever k is, dense alone for DEPTH or, where that is more, for k.
    return mode != "dense" or max(DEPTH, larger.k) == max(DEPTH, smaller.k)


def _identities(
    config: RunConfig, identity: Mapping[str, Any], plan: RunPlan, libraries: Mapping[str, Any]
) -> tuple[CellIdentity, ...]:
    lines = line_fingerprints(identity, plan)
    without = {name: value for name, value in identity["config"].items() if name != "retrieval"}
    loose = line_fingerprints(dict(identity) | {"config": without}, plan)
    found = []
    for planned in plan.cells:
        cell = planned.cell
        foreign = identity["contestants"][cell.strategy].get("plugin") is not None
        # A cell's parameters say how it retrieves. A foreign strategy may read the settings beside them; a system of
        # the user's own knows nothing of them, and is asked once for all points.
        line = (lines if foreign else loose)[cell.key]
        fields = _beside(cell, config) | {"libraries": dict(libraries), "line": line}
        whole = fingerprint("records", fields | {"cell": cell.key})
        found.append(CellIdentity(planned, whole, _but_k(cell, fields, identity)))
    return tuple(found)


def _beside(cell: Cell, config: RunConfig) -> dict[str, Any]:
    """Settings that the identity of a run leaves out and that a record of this cell may still show."""
    fields: dict[str, Any] = {name: getattr(config, name) for name in _SPEED}
    if cell.llm is not None:
        fields["llm"] = config.llm.model_dump(mode="json", include=set(_LLM_SPEED))
    if "evaluator_model" in cell.params:
        fields["rerank"] = config.rerank.model_dump(mode="json")
    return fields


def _but_k(cell: Cell, fields: Mapping[str, Any], identity: Mapping[str, Any]) -> str | None:
    index = identity.get("index") or {}
    exact = index.get("search", {}).get("search") == "exact"
    if cell.strategy != CUT_STRATEGY or cell.retrieval_mode not in MODES or not exact:
        return None
    params = {name: value for name, value in cell.params.items() if name != "k"}
    return fingerprint("hits", dict(fields) | {"cell": replace(cell, params=params).key})


REUSED = "reused"
"""Key of the manifest: cell key -> where its records were taken from, and how."""

T = TypeVar("T")

How = Literal["copied", "cut"]


@dataclass(frozen=True, slots=True)
class CopiedCell:
    """A cell of another point. `how`: its records as they are, or cut down to fewer hits."""

    point: str
    cell: CellIdentity
    how: How


@dataclass(frozen=True, slots=True)
class Donor:
    """A point that has records. `measured`: keys of the cells that it asked itself."""

    name: str
    cells: tuple[CellIdentity, ...]
    measured: frozenset[str]


def find_source(wanted: CellIdentity, donors: Sequence[Donor]) -> CopiedCell | None:
    """Where the records of a cell can be had: the same cell, else the one with the fewest hits that can be cut."""
    own = [(donor.name, cell) for donor in donors for cell in donor.cells if cell.planned.cell.key in donor.measured]
    for point, cell in own:
        if cell.whole == wanted.whole:
            return CopiedCell(point, cell, "copied")
    larger = [(point, cell) for point, cell in own if cuts(cell, wanted)]
    return CopiedCell(*min(larger, key=lambda one: one[1].k), "cut") if larger else None


def take_over(store: RunStore, wanted: CellIdentity, source: CopiedCell, donor: RunStore) -> int:
    """Put into the journal of `store` what it lacks of a cell and the donor has; how many records. Hold the folder.

    With the records of the same cell come the verdicts on them. Lines name the run they are now of.
    """
    missing = {(wanted.planned.cell.key, one) for one in wanted.planned.question_ids} - store.done()
    taken = {key_of(record): record for record in _records(wanted, source, donor, missing)}
    _add(store, RECORDS, RECORD_LINES, list(taken.values()))
    if source.how == "copied":
        known = {VERDICT_LINES.key(one) for one in store.verdicts()}
        said = (one for one in donor.verdicts() if (one.cell, one.question_id) in taken)
        _add(store, VERDICTS, VERDICT_LINES, [one for one in said if VERDICT_LINES.key(one) not in known])
    return len(taken)


def _records(wanted: CellIdentity, source: CopiedCell, donor: RunStore, missing: set[Key]) -> Iterator[RunRecord]:
    cell, theirs = wanted.planned.cell, source.cell.planned.cell.key
    for record in donor.records():
        if record.cell.key != theirs or (cell.key, record.question_id) not in missing:
            continue
        made = replace(record, cell=cell) if source.how == "copied" else cut_record(record, cell, wanted.k)
        if made is not None:
            yield made


def _add(store: RunStore, name: str, lines: LineFormat[T], records: Sequence[T]) -> None:
    """Append to a journal, at once."""
    if records:
        runs = store.lines() or {}
        there = [line.text for line in scan(store.folder / name, runs)]
        new = (encode(record, lines, runs.get(lines.key(record)[0], "")) for record in records)
        store.write_journal(name, [*there, *new])


def run_point(
    point: SweepPoint, folder: SweepFolder, done: Sequence[str], preparer: PointPreparer, reporter: Reporter
) -> Leaderboard:
    """Begin the run of a point or go on with it; one that is finished is only derived anew.

    `folder` is held; `done`: names of the points whose records may be taken over.

    Raises:
        RunInterrupted: it was stopped, by the user or by an error that only the user can mend.
        RunStoreError: its folder was made under other settings.
    """
    store = folder.store(point.name)
    if is_done(store, point.config):
        return finish(store, reporter, config=point.config)
    prepared = preparer.prepare(point.config)
    taken = _take_over(prepared, store, folder, done, reporter)
    began = taken or folder.has(point.name)
    return (resume(prepared, store, reporter) if began else start(prepared, reporter)).board


def donors_of(folder: SweepFolder, names: Sequence[str]) -> list[Donor]:
    """Those of the points that have a run folder, with what they asked themselves."""
    found = []
    for name in names:
        if folder.has(name):
            store = folder.store(name)
            cells = of_store(store)
            taken = store.manifest().get(REUSED, {})
            measured = frozenset(cell.planned.cell.key for cell in cells if cell.planned.cell.key not in taken)
            found.append(Donor(name, cells, measured))
    return found


def _take_over(
    prepared: Prepared, store: RunStore, folder: SweepFolder, done: Sequence[str], reporter: Reporter
) -> bool:
    """Fill the journal with what other points have; whether there was anything. The folder is made if it must be."""
    donors = donors_of(folder, done)
    found = [(cell, find_source(cell, donors)) for cell in of_prepared(prepared)]
    sources = [(cell, source) for cell, source in found if source is not None]
    if not sources:
        return False
    if not folder.has(store.run_id):
        with store.creating(new_manifest(prepared, now()), prepared.plan):
            pass
    with store.holding():
        known = store.lines() or {}  # of a run that is given more cells now, those are asked
        for cell, source in sources:
            if cell.planned.cell.key in known:
                _take_cell(store, cell, source, folder.store(source.point), reporter)
    return True


def _take_cell(store: RunStore, cell: CellIdentity, source: CopiedCell, donor: RunStore, reporter: Reporter) -> None:
    """Where records come from is written down before they come, so that a kill leaves none of unknown origin."""
    planned = cell.planned.cell
    note = {"point": source.point, "how": source.how, "cell": source.cell.planned.cell.key}
    manifest = store.manifest()
    taken = manifest.get(REUSED, {})
    if planned.key not in taken and any(key == planned.key for key, _ in store.done()):
        return  # begun when there was nothing to take over
    store.write_manifest(manifest | {REUSED: taken | {planned.key: note}})
    if number := take_over(store, cell, source, donor):
        reporter.say(f"{name_of(planned)}: {number} records {source.how} from {source.point}")


NEW, ASKED = "new", "asked"


@dataclass(frozen=True, slots=True)
class ExpectedCell:
    """A cell of a point. `source`: `asked`, or what it is made of, as in `cut from k-20`; then it costs nothing."""

    name: str
    n_questions: int
    source: str
    calls: float | None = 0.0
    tokens: float | None = 0.0
    usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class ExpectedPoint:
    """`status`: `new`, or that of its run. `judging_usd`: what judging the asked cells would cost, None = unknown."""

    point: SweepPoint
    status: str
    cells: tuple[ExpectedCell, ...]
    judging_usd: float | None = 0.0

    @property
    def usd(self) -> float | None:
        """Of all that is asked; None where any part is unknown."""
        return sum_known([*(one.usd for one in self.cells), self.judging_usd])


def expect_points(points: Sequence[SweepPoint], folder: SweepFolder, reporter: Reporter) -> list[ExpectedPoint]:
    """Work out, point by point in the order of asking, what a sweep would take. Makes no run folder.

    A point that is finished costs nothing; one that was begun is shown as if nothing of it were done.
    """
    donors: list[Donor] = []
    expected: list[ExpectedPoint] = []
    with closing(PointPreparer(reporter, dry=True)) as preparer:
        for point in points:
            prepared = preparer.prepare(point.config)
            cells = of_prepared(prepared)
            sources = {cell.planned.cell.key: find_source(cell, donors) for cell in cells}
            donors.append(Donor(point.name, cells, frozenset(key for key, one in sources.items() if one is None)))
            expected.append(_expect(prepared, point, donors[-1], sources, folder, reporter))
    return expected


def _expect(
    prepared: Prepared,
    point: SweepPoint,
    there: Donor,
    sources: Mapping[str, CopiedCell | None],
    folder: SweepFolder,
    reporter: Reporter,
) -> ExpectedPoint:
    status = str(folder.store(point.name).manifest()["status"]) if folder.has(point.name) else NEW
    writing = any(cell.planned.cell.llm for cell in there.cells if cell.planned.cell.key in there.measured)
    costs: Mapping[str, Figures] = {}
    judging: float | None = 0.0
    if writing and status != FINISHED:
        costs, judging = _costs(prepared, point, there.measured, folder, reporter)
    expected = []
    for cell in there.cells:
        one, source = cell.planned.cell, sources[cell.planned.cell.key]
        made = f"{source.how} from {source.point}" if source else ASKED
        name, n_questions = name_of(one), len(cell.planned.question_ids)
        if found := costs.get(one.key):
            tokens = sum_known([found.input_tokens, found.output_tokens])
            expected.append(ExpectedCell(name, n_questions, made, found.calls, tokens, found.usd))
        else:
            expected.append(ExpectedCell(name, n_questions, FINISHED if status == FINISHED else made))
    return ExpectedPoint(point, status, tuple(expected), judging)


def _costs(
    prepared: Prepared, point: SweepPoint, asked: frozenset[str], folder: SweepFolder, reporter: Reporter
) -> tuple[dict[str, Figures], float | None]:
    """Cell key -> what asking it would take; and dollars of judging the answers of those cells."""
    # What runs beside the sweep used is known; once it is begun, what its own points used.
    runs = folder.path if folder.path.exists() else folder.path.parent
    dry = dry_run(point.config.model_copy(update={"runs_dir": runs}), reporter, prepared)
    writing = [one.cell.key for one in dry.cells if one.cell.llm is not None]
    judging = sum_known(
        one.figures.usd
        for metric in dry.judging
        for key, one in zip(writing, metric.by_cell, strict=True)
        if key in asked
    )
    return {one.cell.key: one.figures for one in dry.cells if one.cell.key in asked}, judging
