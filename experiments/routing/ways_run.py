"""A finished run of the three ways, as a router is trained or measured on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from arena.errors import ConfigError, RunStoreError
from arena.metrics.controllers import route_taken
from arena.store import FINISHED, RunStore, key_of
from arena.types import Cell, Question, RunRecord
from experiments.contestants.labels import SilverLabels, answered_right, fixed_ways, label_outcomes
from experiments.run.process import resume_command
from experiments.run.scoring import PastRun, open_past_run
from strategies.adaptive import LABELS, Label


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of one question on one way: whether its answer was right, and how many retrievals it took."""

    right: bool
    steps: int


@dataclass(frozen=True)
class WaysRun:
    """The run, the model that reads in it, and by question id what came of each way.

    `taken` lacks the ways on which a question failed. `prompted`: the label that prompted routing gave, where the run
    has such a cell in the same mode. `mode`: the retrieval mode of ways B and C.
    """

    past: PastRun
    reader: str
    mode: str
    taken: Mapping[str, Mapping[Label, Taken]]
    prompted: Mapping[str, Label]

    @cached_property
    def labels(self) -> SilverLabels:
        outcomes: dict[str, dict[Label, bool | None]] = {
            question_id: {label: one.right for label, one in ways.items()} for question_id, ways in self.taken.items()
        }
        return label_outcomes(outcomes, self.past.dataset)

    @cached_property
    def questions(self) -> Mapping[str, Question]:
        return {question.question_id: question for question in self.past.dataset.questions}

    @property
    def run_id(self) -> str:
        return self.past.store.run_id


def open_ways_run(folder: Path, mode: str | None, data_at: str | None = None) -> WaysRun:
    """Read a run, whose dataset lies at `data_at` (None: where its settings say).

    `mode`: the retrieval mode whose cells count, where it has several.

    Raises:
        RunStoreError: it is none, not finished, or cannot be read.
        ConfigError: it has not one cell for every way, all of one reader.
    """
    store = RunStore.open(folder, data_at)
    past = open_past_run(store)
    if past.manifest["status"] != FINISHED:
        raise RunStoreError(f"run {store.run_id!r} is not finished: go on with {resume_command(store)}")
    planned = [one.cell for one in past.plan.cells]
    try:
        ways = fixed_ways(planned, mode)
    except ConfigError as error:
        raise ConfigError(f"run {store.run_id!r}: {error}") from None
    reader = _reader(store.run_id, ways.values())
    mode = ways["C"].retrieval_mode
    kept = set(past.plan.keys())
    records = [record for record in store.records() if key_of(record) in kept]
    return WaysRun(past, reader, mode, _taken(records, ways, past), _prompted(records, planned, reader, mode))


def _reader(run_id: str, ways: Iterable[Cell]) -> str:
    readers = sorted({str(cell.llm) for cell in ways})
    if len(readers) > 1 or readers == ["None"]:
        raise ConfigError(
            f"the ways of run {run_id!r} were answered by {', '.join(readers)}: a router is for one reader; run all "
            "three with one model"
        )
    return readers[0]


def _taken(
    records: Iterable[RunRecord], ways: Mapping[Label, Cell], past: PastRun
) -> Mapping[str, Mapping[Label, Taken]]:
    label_of = {cell.key: label for label, cell in ways.items()}
    found: dict[str, dict[Label, Taken]] = {}
    for record in records:
        label = label_of.get(record.cell.key)
        if label is None:
            continue
        of_question = found.setdefault(record.question_id, {})
        right = answered_right(record, past.dataset.gold[record.question_id])
        if right is not None:
            of_question[label] = Taken(right, len(record.retrievals))
    return found


def _prompted(records: Iterable[RunRecord], cells: Iterable[Cell], reader: str, mode: str) -> Mapping[str, Label]:
    routing = [
        cell.key
        for cell in cells
        if (cell.strategy, cell.llm, cell.retrieval_mode) == ("adaptive", reader, mode)
        and cell.params.get("policy") == "classifier"
    ]
    found: dict[str, Label] = {}
    for record in records:
        if routing and record.cell.key == routing[0]:
            label = next((one for one in LABELS if one == route_taken(record)), None)
            if label is not None:
                found[record.question_id] = label
    return found
