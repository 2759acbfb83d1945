"""A finished run on the dev part, as calibration reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from arena.errors import ConfigError, RunStoreError
from arena.sampling import require_dev
from arena.store import FINISHED, RunStore, key_of
from arena.types import Cell, Gold, Question, RunRecord
from experiments.run.process import resume_command
from experiments.run.scoring import PastRun, open_past_run
from indexing.modes import MODES


@dataclass(frozen=True)
class DevRun:
    """The run, and its records by cell key, in the order of the plan. Records of failures are left out."""

    past: PastRun
    records: Mapping[str, Sequence[RunRecord]]

    @cached_property
    def questions(self) -> Mapping[str, Question]:
        return {question.question_id: question for question in self.past.dataset.questions}

    @property
    def gold(self) -> Mapping[str, Gold]:
        return self.past.dataset.gold

    @property
    def seed(self) -> int:
        return self.past.config.seed

    @property
    def cells(self) -> list[Cell]:
        """In the order of the plan."""
        return [planned.cell for planned in self.past.plan.cells]

    def of(self, cell: Cell) -> Sequence[RunRecord]:
        return self.records.get(cell.key, ())

    def one_cell(self, strategy: str, suits: Callable[[Cell], bool], wanted: str) -> Cell:
        """The cell of a strategy that suits: in the reranked mode if the run has it, else in its first mode.

        Raises:
            ConfigError: there is none, or more than one in that mode; `wanted` says what to run.
        """
        suiting = [cell for cell in self.cells if cell.strategy == strategy and suits(cell)]
        if not suiting:
            raise ConfigError(f"run {self.past.store.run_id!r} has no cell to calibrate it on: run {wanted}")
        modes = list(dict.fromkeys(cell.retrieval_mode for cell in suiting))
        mode = next((one for one in modes if reranks(one)), modes[0])
        found = [cell for cell in suiting if cell.retrieval_mode == mode]
        if len(found) > 1:
            raise ConfigError(
                f"run {self.past.store.run_id!r} has {len(found)} cells of {strategy} in mode {mode} "
                f"({', '.join(cell.key for cell in found)}): calibrate it on a run with one"
            )
        return found[0]


def open_dev_run(folder: Path, data_at: str | None = None) -> DevRun:
    """Read a run, whose dataset lies at `data_at` (None: where its settings say).

    Raises:
        RunStoreError: it is none, not finished, or cannot be read.
        ConfigError: it asks questions that do not belong to the part dev.
    """
    store = RunStore.open(folder, data_at)
    past = open_past_run(store)
    if past.manifest["status"] != FINISHED:
        raise RunStoreError(f"run {store.run_id!r} is not finished: go on with {resume_command(store)}, then calibrate")
    try:
        require_dev(past.config)
    except ConfigError as error:
        raise ConfigError(f"run {store.run_id!r} is not for calibration: {error}") from None
    planned = set(past.plan.keys())
    records: dict[str, list[RunRecord]] = {}
    for record in store.records():
        if record.answer is not None and key_of(record) in planned:
            records.setdefault(record.cell.key, []).append(record)
    return DevRun(past, records)


def reranks(mode: str) -> bool:
    """Whether a retrieval mode ends with the reranker."""
    return mode in MODES and MODES[mode].reranked
