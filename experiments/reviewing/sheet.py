"""A run's answers as a sheet for reviewers: CSV that spreadsheets open, and beside it what each column asks."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from arena.errors import ConfigError, RunStoreError
from arena.store import FINISHED, RunStore
from experiments.reviewing.cell_text import guarded
from experiments.reviewing.rows import ReviewRow, review_rows, sampled_keys
from experiments.reviewing.rubric import CRITERIA, criteria_text
from experiments.run.process import resume_command
from experiments.run.scoring import PastRun, open_past_run

ROW_ID, QUESTION, ANSWER, RATER, NOTE = "row_id", "question", "answer", "rater", "note"
SHOWN_COLUMNS = (ROW_ID, QUESTION, "gold_answers", "passages", "citations", ANSWER)
MARK_COLUMNS = tuple(criterion.name for criterion in CRITERIA)
COLUMNS = (*SHOWN_COLUMNS, *MARK_COLUMNS, RATER, NOTE)


@dataclass(frozen=True, slots=True)
class Exported:
    """A sheet that was written, and the file beside it that says what each criterion means."""

    sheet: Path
    criteria: Path
    n_rows: int

    def __str__(self) -> str:
        return f"{self.sheet}: {self.n_rows:,} answers to judge; {self.criteria} says how"


def export_sheet(
    run_folder: Path, out: Path, *, limit: int | None, seed: int, gold: bool = True, data_at: str | None = None
) -> Exported:
    """Write the answers of a finished run as a sheet.

    The order of rows follows from `seed` and the row ids, which tell neither cell nor question. The same run and
    arguments give the same bytes.

    Args:
        run_folder: the run.
        out: the CSV file; one that exists is not replaced, for it may hold somebody's judgements.
        limit: answers per cell, a seeded sample (None: all).
        seed: of the sample and of the order.
        gold: show the gold answers.
        data_at: where its dataset lies now (None: where its settings say).

    Raises:
        RunStoreError: there is no finished run.
        ConfigError: `out` exists or cannot be written, or the run has no answer to judge.
    """
    run = open_finished(run_folder, data_at)
    if out.exists():
        raise ConfigError(f"{str(out)!r} exists, and may hold judgements: name another file with --out")
    criteria = out.with_name(f"{out.stem}.criteria.txt")
    rows = sorted(review_rows(run, sampled_keys(run, limit, seed)), key=lambda row: _order(row.row_id, seed))
    if not rows:
        raise ConfigError(f"run {run.store.run_id!r} has no answer to judge: no cell of it wrote one")
    _write(criteria, criteria_text())
    _write(out, "\ufeff" + _csv(rows, gold=gold))
    return Exported(out, criteria, len(rows))


def open_finished(run_folder: Path, data_at: str | None = None) -> PastRun:
    """A run whose answers are all there. Raises `RunStoreError` for one that is not finished."""
    run = open_past_run(RunStore.open(run_folder, data_at))
    if run.manifest["status"] != FINISHED:
        raise RunStoreError(
            f"run {run.store.run_id!r} is not finished: go on with {resume_command(run.store)}, then have it reviewed"
        )
    return run


def _csv(rows: Iterable[ReviewRow], *, gold: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    blank = [""] * (len(MARK_COLUMNS) + 2)
    for row in rows:
        shown = (row.row_id, row.question, row.gold_answers if gold else "", row.passages, row.citations, row.answer)
        writer.writerow([*map(guarded, shown), *blank])
    return text.getvalue()


def _order(row_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{row_id}".encode()).digest()


def _write(path: Path, text: str) -> None:
    """A file that is there whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(text.encode())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ConfigError(f"cannot write {str(path)!r}: {error.strerror}; choose another place with --out") from error
