"""A run's answers as a sheet for reviewers: CSV that spreadsheets open, and beside it what each column asks.

Of every answer binary criteria are asked, each with what yes and no mean. An answer stands under an id that does not
tell whose it is. Untrusted text stays text in a spreadsheet, and comes back as it was.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from arena.errors import ConfigError
from arena.files import read_yaml_file, write_whole
from arena.identity import short_hash
from arena.judges.subject import subject_of
from arena.metrics.case import Case
from arena.plan import Key
from arena.sampling import sample
from arena.store import RunStore, key_of
from arena.store.runs import require_finished
from arena.types import Answer, well_formed
from experiments.execution.scoring import PastRun, cases_of, open_past_run

Mark = Literal["y", "n", "na"]

READ_AS: Mapping[str, Mark] = {"y": "y", "yes": "y", "n": "n", "no": "n", "na": "na", "n/a": "na"}
"""What a reviewer may write, in lower case -> the mark that it is."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One column of the sheet. `meaning`: of `y`; `not_applicable`: when to write `na` (empty: never)."""

    name: str
    meaning: str
    not_applicable: str = ""


CORRECT, SUPPORTED = "correct", "every_statement_supported"
"""Names of the two criteria that metrics ask for too."""


@cache
def _instructions() -> tuple[str, tuple[Criterion, ...]]:
    content = read_yaml_file(Path(__file__).with_name("criteria.yaml"), "criteria of a review")
    return content["how"], tuple(Criterion(**one) for one in content["criteria"])


def criteria() -> tuple[Criterion, ...]:
    """All of them, in the order of their columns."""
    return _instructions()[1]


def criteria_text() -> str:
    """The instructions that go with a sheet."""
    how, asked = _instructions()
    parts = [how]
    for criterion in asked:
        not_applicable = f"\n    na if {criterion.not_applicable}." if criterion.not_applicable else ""
        parts.append(f"{criterion.name}\n    y if: {criterion.meaning}{not_applicable}\n")
    return "\n".join(parts)


LONGEST_CELL_CHARS = 32_767
"""What a cell of a spreadsheet holds (Excel, LibreOffice cuts later); a longer one would spill into the next row."""

_CUT = "\n[cut: {shown:,} of {all:,} characters]"

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")

_FORMULA = tuple(
    "=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
"""A cell that begins like this may be run as a formula."""

_MONTH = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_REWRITTEN = re.compile(
    rf"(?!(0|[1-9]\d{{0,14}})$)(?=.*\d)(?:[\d\s.,:/%()$€£-]|(?:{_MONTH})[a-z]*\b|\b[ap]\.?m\b|e[+-]?(?=\d))+",
    re.IGNORECASE,
)
"""A whole text that spreadsheets may take for a number, a time or a date, and save in another notation."""

_GUARD = "'"


def sheet_text(text: str) -> str:
    """`text` as a sheet shows it: line ends are newlines, control characters U+FFFD, and what is too long is cut."""
    shown = _CONTROLS.sub("\ufffd", well_formed(text).replace("\r\n", "\n").replace("\r", "\n"))
    if len(shown) < LONGEST_CELL_CHARS:
        return shown
    kept = LONGEST_CELL_CHARS - 100
    return shown[:kept] + _CUT.format(shown=kept, all=len(shown))


def guarded(text: str) -> str:
    """`text` behind an apostrophe where a spreadsheet would run it or write it in another way; see `restored`."""
    risky = text.startswith((_GUARD, *_FORMULA)) or _REWRITTEN.fullmatch(text)
    return _GUARD + text if risky else text


def no_formula(text: str) -> str:
    """`text` behind an apostrophe where a spreadsheet would run it."""
    return _GUARD + text if text.startswith(_FORMULA) else text


def restored(cell: str) -> str:
    """What was guarded. `restored(guarded(text)) == text`."""
    return cell.removeprefix(_GUARD)


def same_text(cell: str, exported: str) -> bool:
    """Whether a cell still holds `exported`, with or without its guard; spreadsheets may change line ends and trim."""
    found = cell.replace("\r\n", "\n").replace("\r", "\n")
    return exported.strip() in (restored(found).strip(), found.strip())


NO_GOLD = "(no answer: the question cannot be answered from the corpus)"
NOT_KEPT = "(the text of these passages was not kept)"


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One answer as a reviewer sees it. Texts are as `sheet_text` leaves them, not yet guarded.

    `passages`: what the answer was written from, numbered in the order shown; `citations`: which of them it cites.
    """

    row_id: str
    cell: str
    question_id: str
    question: str
    gold_answers: str
    passages: str
    citations: str
    answer: str


def run_tag(run: PastRun) -> str:
    """What the ids of all rows of a run begin with."""
    return "r" + short_hash(f"{run.store.run_id}\n{run.manifest['started']}", 6)


def review_rows(run: PastRun, wanted: Collection[Key] | None = None) -> Iterator[ReviewRow]:
    """The answers of a run in the order of its journal, one at a time (`wanted`: only these).

    Abstentions are among them; failures and cells without a model have no answer.
    """
    tag = run_tag(run)
    for case in cases_of(run):
        answer = case.record.answer
        if answer is None or case.record.cell.llm is None or (wanted is not None and key_of(case.record) not in wanted):
            continue
        if answer.text is not None:
            yield _row(case, answer, answer.text, tag)


def sampled_keys(run: PastRun, limit: int | None, seed: int) -> set[Key]:
    """At most `limit` answers of each cell (None: all), drawn as a run draws its questions."""
    answered = {key_of(record) for record in run.store.records() if record.answer is not None}
    chosen = set()
    for cell in {cell for cell, _ in answered}:
        questions = [one for one in run.dataset.questions if (cell, one.question_id) in answered]
        drawn = sample(questions, limit, balance="proportional", seed=seed)
        chosen |= {(cell, question.question_id) for question in drawn}
    return chosen


def _row(case: Case, answer: Answer, text: str, tag: str) -> ReviewRow:
    record, gold = case.record, case.gold
    shown = list((case.shown or {}).items())
    numbers = {doc_id: number for number, (doc_id, _) in enumerate(shown, 1)}
    return ReviewRow(
        row_id=f"{tag}-{_hidden(case)}",
        cell=record.cell.key,
        question_id=record.question_id,
        question=sheet_text(case.question.text),
        gold_answers=sheet_text(" | ".join(gold.answers) if gold.answers else NO_GOLD),
        passages=sheet_text(
            NOT_KEPT
            if case.shown is None
            else "\n\n".join(f"[{place}] {text}" for place, (_, text) in enumerate(shown, 1))
        ),
        citations=" ".join(f"[{numbers.get(doc_id, 'not shown')}]" for doc_id in answer.cited_ids),
        answer=sheet_text(text),
    )


def _hidden(case: Case) -> str:
    """12 hex digits of what the row is, keyed by what only the run folder tells: how long the question took."""
    record = case.record
    place = json.dumps([record.cell.key, record.question_id, subject_of(case).sha])
    return hmac.new(repr(record.wall_seconds).encode(), place.encode(), "sha256").hexdigest()[:12]


ROW_ID, QUESTION, ANSWER, RATER, NOTE = "row_id", "question", "answer", "rater", "note"
SHOWN_COLUMNS = (ROW_ID, QUESTION, "gold_answers", "passages", "citations", ANSWER)


def mark_columns() -> tuple[str, ...]:
    """The columns that a reviewer writes marks into, one a criterion."""
    return tuple(criterion.name for criterion in criteria())


def columns() -> tuple[str, ...]:
    """All columns of a sheet."""
    return (*SHOWN_COLUMNS, *mark_columns(), RATER, NOTE)


@dataclass(frozen=True, slots=True)
class ExportedSheet:
    """A sheet that was written, and the file beside it that says what each criterion means."""

    sheet: Path
    criteria: Path
    n_rows: int

    def __str__(self) -> str:
        return f"{self.sheet}: {self.n_rows:,} answers to judge; {self.criteria} says how"


def export_sheet(
    run_folder: Path, out: Path, *, limit: int | None, seed: int, gold: bool = True, data_at: str | None = None
) -> ExportedSheet:
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
    instructions = out.with_name(f"{out.stem}.criteria.txt")
    rows = sorted(review_rows(run, sampled_keys(run, limit, seed)), key=lambda row: _order(row.row_id, seed))
    if not rows:
        raise ConfigError(f"run {run.store.run_id!r} has no answer to judge: no cell of it wrote one")
    _write(instructions, criteria_text())
    _write(out, "\ufeff" + _csv(rows, gold=gold))
    return ExportedSheet(out, instructions, len(rows))


def open_finished(run_folder: Path, data_at: str | None = None) -> PastRun:
    """A run whose answers are all there. Raises `RunStoreError` for one that is not finished."""
    store = RunStore.open(run_folder, data_at)
    require_finished(store, "have it reviewed")
    return open_past_run(store)


def _csv(rows: Iterable[ReviewRow], *, gold: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns())
    blank = [""] * (len(columns()) - len(SHOWN_COLUMNS))
    for row in rows:
        shown = (row.row_id, row.question, row.gold_answers if gold else "", row.passages, row.citations, row.answer)
        writer.writerow([*map(guarded, shown), *blank])
    return text.getvalue()


def _order(row_id: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{row_id}".encode()).digest()


def _write(path: Path, text: str) -> None:
    """A file that is there whole or not at all."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise ConfigError(f"cannot write {str(path)!r}: {error.strerror}; choose another place with --out") from error
