"""Watch a run that is not finished: each look reads what is new in its journal and no more.

Every cell is counted and scored record by record; pages and JSON say how far the run is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter
from typing import Literal

from arena.config import validate_config
from arena.datasets import is_known_as, load_dataset
from arena.errors import RunStoreError, UserError
from arena.leaderboard.build import Leaderboard
from arena.leaderboard.gap import FLOOR
from arena.leaderboard.metrics import QuestionResamples, columns_of_scores, summarise_columns
from arena.leaderboard.schema import MetricSummary
from arena.llm.providers import is_fake
from arena.metrics import METRICS
from arena.metrics.case import Case
from arena.plan import PlannedCell
from arena.report.names import cell_name
from arena.scoring import CellScores
from arena.store import RunStore
from arena.store.runs import RecordTail
from arena.types import GOLD_MODE, Dataset, Outcome, RunRecord, sum_known

Status = Literal["running", "stopped", "finished", "damaged"]

FIGURES = ("answer_f1", "answer_em", "retrieval_recall")
"""Metrics that are shown while a run goes on."""

HEADLINE = ("answer_f1", "retrieval_recall")
"""Metrics whose best cell stands in the list of runs."""


@dataclass(frozen=True, slots=True)
class CellProgress:
    """One cell: `done` of `planned` questions have a record, `failed` and `abstained` of them ended so.

    `tokens`: input and output of all calls; None = unknown.
    """

    cell: str
    strategy: str
    retrieval_mode: str
    llm: str | None
    done: int
    planned: int
    failed: int
    abstained: int
    calls: int | None
    tokens: int | None
    figures: Mapping[str, MetricSummary] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return cell_name(self.strategy, self.retrieval_mode)

    @property
    def fake(self) -> bool:
        """Whether a fake model wrote the answers, so that figures of answers say nothing."""
        return self.llm is not None and is_fake(self.llm)

    @property
    def is_control(self) -> bool:
        """A floor that sees no document, or a ceiling that is handed the gold: a bound, and no contestant."""
        return self.retrieval_mode == GOLD_MODE or (self.strategy, self.retrieval_mode) == FLOOR


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run. `problem`: why it is damaged, or why it has no figures (None: all is well).

    `run_id`: its place below the folder that is served, as in `k_sweep/k-5` of a run that a sweep made. `warnings`: the
    validity warnings of its leaderboard, a sentence each.
    `reading`: its journal is still being read, and its cells are not known yet.
    """

    run_id: str
    status: Status
    dataset: str | None = None
    llm: str | None = None
    started: str | None = None
    cells: Sequence[CellProgress] = ()
    problem: str | None = None
    warnings: Sequence[str] = ()
    reading: bool = False

    @property
    def done(self) -> int:
        return sum(cell.done for cell in self.cells)

    @property
    def planned(self) -> int:
        return sum(cell.planned for cell in self.cells)

    @property
    def failed(self) -> int:
        return sum(cell.failed for cell in self.cells)

    def best(self, metric: str) -> tuple[CellProgress, MetricSummary] | None:
        """The cell with the highest mean, and its figure; controls do not compete."""
        means = [
            (summary.mean, -place, cell, summary)
            for place, cell in enumerate(self.cells)
            if not cell.is_control and (summary := cell.figures.get(metric)) is not None and summary.mean is not None
        ]
        return max(means, key=lambda one: one[:2])[2:] if means else None


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """A sweep, or a comparison at equal budget: a folder of runs. `runs`: their names, as in `RunProgress.run_id`."""

    name: str
    kind: str
    status: str
    runs: Sequence[str]


def cells_of_board(board: Leaderboard) -> tuple[CellProgress, ...]:
    """The cells of a finished run; a figure that is invalid is left out."""
    return tuple(
        CellProgress(
            cell=row.cell,
            strategy=row.strategy,
            retrieval_mode=row.retrieval_mode,
            llm=row.llm,
            done=row.n_questions,
            planned=row.n_questions,
            failed=row.n_failed,
            abstained=row.n_abstained,
            calls=None if (calls := row.llm_calls_per_question) is None else round(calls * row.n_questions),
            tokens=None if row.tokens is None else round(row.tokens * row.n_questions),
            figures={name: row.metrics[name] for name in FIGURES if name in row.metrics and not row.invalid(name)},
        )
        for row in board.cells
    )


@dataclass(frozen=True, slots=True)
class _Taken:
    """What one question came to."""

    outcome: Outcome
    calls: int | None
    tokens: int | None


@dataclass(slots=True)
class CellWatch:
    """The newest record of each question counts."""

    planned: PlannedCell
    taken: dict[str, _Taken] = field(default_factory=dict)
    scores: CellScores = field(init=False)

    def __post_init__(self) -> None:
        self.scores = CellScores(self.planned.cell)

    def add(self, record: RunRecord) -> None:
        """Count a record of this cell."""
        tokens = sum_known(count for call in record.calls for count in (call.input_tokens, call.output_tokens))
        calls = len(record.calls) if record.counts_calls else None
        self.taken[record.question_id] = _Taken(record.outcome, calls, tokens)

    def score(self, record: RunRecord, dataset: Dataset, questions: dict[str, int]) -> None:
        """Score it by FIGURES. `questions`: question id -> its place in `dataset`."""
        question_id = record.question_id
        case = Case(record, dataset.questions[questions[question_id]], dataset.gold[question_id], {})
        self.scores.scores[question_id] = tuple(METRICS[name].score(case) for name in FIGURES)

    def figures(self, resamples: QuestionResamples) -> dict[str, MetricSummary]:
        """Means with their intervals over what is scored so far, made as those on the leaderboard are."""
        if not self.scores.scores:
            return {}
        columns = columns_of_scores(self.scores)
        return summarise_columns(columns, resamples.of(columns.ids))

    def progress(self, figures: dict[str, MetricSummary]) -> CellProgress:
        """Where the cell stands."""
        cell, taken = self.planned.cell, self.taken.values()
        return CellProgress(
            cell=cell.key,
            strategy=cell.strategy,
            retrieval_mode=cell.retrieval_mode,
            llm=cell.llm,
            done=len(self.taken),
            planned=len(self.planned.question_ids),
            failed=sum(one.outcome == "failed" for one in taken),
            abstained=sum(one.outcome == "abstained" for one in taken),
            calls=sum_known(one.calls for one in taken),
            tokens=sum_known(one.tokens for one in taken),
            figures=figures,
        )


_REST = 10.0
"""Intervals are made anew after ten times as long as they took to make, so that a look costs a tenth at most."""


@dataclass(slots=True)
class _Gold:
    """What records are scored against. `seed`: of the resamples."""

    dataset: Dataset
    places: dict[str, int]
    seed: int


@dataclass(slots=True)
class RunWatch:
    """One run folder; may be looked at from several threads.

    `problem`: why there are no figures (None: there are, or nobody looked yet).
    """

    store: RunStore
    clock: Callable[[], float] = perf_counter
    problem: str | None = None
    _tail: RecordTail = field(init=False)
    _cells: dict[str, CellWatch] = field(default_factory=dict)
    _gold: _Gold | None = None
    _figures: dict[str, dict[str, MetricSummary]] = field(default_factory=dict)
    _next_figures: float = 0.0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._tail = RecordTail(self.store.folder)

    def look(self) -> tuple[CellProgress, ...]:
        """Where each planned cell stands now, in the order of the plan.

        Raises:
            RunStoreError: the folder is damaged.
        """
        with self._lock:
            self._read()
            self._summarise()
            return tuple(watch.progress(self._figures.get(key, {})) for key, watch in self._cells.items())

    def _read(self) -> None:
        plan = {planned.cell.key: planned for planned in self.store.plan().cells}
        extended = plan != {key: watch.planned for key, watch in self._cells.items()}
        if extended:
            self._tail = RecordTail(self.store.folder)
        if self._tail.restarted() or extended:
            self._cells = {key: CellWatch(planned) for key, planned in plan.items()}
            self._figures, self._next_figures = {}, 0.0
        self._load_gold()
        self._count(self._tail.new_records())

    def _count(self, records: Iterable[RunRecord]) -> None:
        for record in records:
            watch = self._cells.get(record.cell.key)
            if watch is None:
                continue
            watch.add(record)
            if self._gold is not None and record.question_id in self._gold.places:
                watch.score(record, self._gold.dataset, self._gold.places)

    def _load_gold(self) -> None:
        """Once. Data that cannot be read, or are not what they were, leave the run without figures, and are named."""
        if self._gold is not None or self.problem is not None:
            return
        manifest = self.store.manifest()
        try:
            config = validate_config(manifest["config"], f"run {self.store.run_id!r}")
            dataset = load_dataset(config.dataset)
            if not is_known_as(dataset, manifest["identity"].get("dataset")):
                raise RunStoreError(f"dataset {config.dataset!r} is not what it was when the run began")
        except UserError as error:
            self.problem = f"no figures: {error}"
            return
        places = {question.question_id: place for place, question in enumerate(dataset.questions)}
        self._gold = _Gold(dataset, places, config.seed)

    def _summarise(self) -> None:
        """Make the figures anew unless that was done just now."""
        began = self.clock()
        if self._gold is None or began < self._next_figures:
            return
        resamples = QuestionResamples(self._gold.dataset.questions, self._gold.seed)
        self._figures = {key: watch.figures(resamples) for key, watch in self._cells.items()}
        ended = self.clock()
        self._next_figures = ended + _REST * (ended - began)
