"""A run that is not finished, watched: each look reads what is new in its journal and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter

from arena.config import validate_config
from arena.datasets import is_known_as, load_dataset
from arena.errors import RunStoreError, UserError
from arena.leaderboard.metrics import QuestionResamples
from arena.leaderboard.schema import MetricSummary
from arena.store import RunStore
from arena.store.runs import RecordTail
from arena.types import Dataset, RunRecord
from experiments.serving.cell_watch import CellWatch
from experiments.serving.progress import CellProgress

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
