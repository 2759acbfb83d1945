"""`arena export`: a run in the formats of other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.datasets.jsonl import place_folder
from arena.errors import RunStoreError, UnknownNameError
from arena.metrics import Case
from arena.store import RunStore
from experiments.exchange.answer_files import write_answers
from experiments.exchange.cases import cases_of
from experiments.exchange.ragas_samples import write_ragas
from experiments.exchange.rankings import write_ranx, write_trec
from experiments.exchange.spreadsheet import write_csv
from experiments.run.process import resume_command
from experiments.run.scoring import PastRun, open_past_run

Writer = Callable[[PastRun, Iterator[Case], Path], Mapping[str, int]]
"""Writes the records of a run into a folder; cell key -> how many it had no place for."""

FORMATS: Mapping[str, Writer] = {
    "answers": write_answers,
    "csv": write_csv,
    "ragas": write_ragas,
    "ranx": write_ranx,
    "trec": write_trec,
}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written.

    `left_out`: cell -> records that the format has no place for. `n_missing`: planned questions without a record, of a
    run that is not finished.
    """

    folder: Path
    files: tuple[str, ...]
    left_out: Mapping[str, int]
    n_missing: int


def export_run(run_folder: Path, form: str, out: Path, data_at: str | None = None) -> Exported:
    """Write a run to the folder `out` in one of FORMATS, whole or not at all.

    `data_at`: where its dataset lies now (None: where its settings say).

    Raises:
        UnknownNameError: no such format.
        RunStoreError: the run cannot be read, or has no record yet.
        DatasetError: its data cannot be loaded, `out` holds something else, or an id does not fit the format.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    run = open_past_run(RunStore.open(run_folder, data_at))
    if run.n_missing == len(run.plan.keys()):
        raise RunStoreError(f"run {run.store.run_id!r} has no record yet: {resume_command(run.store)} goes on with it")
    left_out: dict[str, int] = {}
    files: list[str] = []

    def fill(target: Path) -> None:
        left_out.update(FORMATS[form](run, cases_of(run), target))
        files.extend(sorted(path.name for path in target.iterdir()))

    place_folder(out, fill)
    return Exported(out, tuple(files), {cell: number for cell, number in left_out.items() if number}, run.n_missing)
