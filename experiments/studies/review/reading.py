"""Read the sheets that reviewers filled in, into ratings or into a list of all that is wrong with them.

Every row must be known, and nothing but judgements may have changed. A `Rating` is what one reviewer said of one
answer, once; review.jsonl has one a line.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from arena.errors import DatasetError, RunStoreError, content_problems
from arena.plan import Key
from arena.report.question import visible_text
from arena.store import REVIEW, RunStore
from arena.store.runs import review_text
from arena.types import grouped
from experiments.studies.review.sheet import (
    ANSWER,
    NOTE,
    QUESTION,
    RATER,
    READ_AS,
    ROW_ID,
    Mark,
    ReviewRow,
    columns,
    mark_columns,
    restored,
    same_text,
)

_DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row of a sheet. `line`: its first line in the file, from 1. `cells`: column -> text as written."""

    line: int
    cells: Mapping[str, str]


def read_sheet(path: Path, required: Sequence[str], known: Sequence[str]) -> list[SheetRow]:
    """Read a sheet that a spreadsheet may have saved with another separator, order of columns or line ends.

    Args:
        path: CSV in UTF-8, with or without a byte order mark, separated by comma, semicolon or tab.
        required: columns without which it is no such sheet.
        known: all columns that it may have.

    Raises:
        DatasetError: it cannot be read, its header is another, or a row has more cells than the header.
    """
    lines = list(_lines(path, required[0]))
    if not lines:
        raise DatasetError(f"{path}: is empty; a sheet begins with the line {','.join(known)}")
    header = [restored(cell.strip()) for cell in lines[0][1]]
    while header and not header[-1]:
        header.pop()
    _check_header(path, header, required, known)
    rows: list[SheetRow] = []
    for line, cells in lines[1:]:
        if not any(cell.strip() for cell in cells):
            continue
        if surplus := [cell for cell in cells[len(header) :] if cell.strip()]:
            raise DatasetError(f"{path}, line {line}: {surplus[0]!r} stands beyond the last column, {header[-1]}")
        rows.append(SheetRow(line, dict(zip(header, [*cells, *[""] * len(header)], strict=False))))
    return rows


def _check_header(path: Path, header: Sequence[str], required: Sequence[str], known: Sequence[str]) -> None:
    for name in required:
        if name not in header:
            raise DatasetError(f"{path}, line 1: there is no column {name!r}; the sheet must keep its header")
    for name in header:
        if name not in known:
            raise DatasetError(f"{path}, line 1: no column is called {name!r}; known are {', '.join(known)}")
        if header.count(name) > 1:
            raise DatasetError(f"{path}, line 1: there are {header.count(name)} columns {name!r}")


def _lines(path: Path, first_column: str) -> Iterator[tuple[int, list[str]]]:
    """(first line of the row, its cells)."""
    text = _text(path)
    delimiter = _delimiter(text, first_column)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise DatasetError(f"{path}, line {line}: no CSV from here on ({error}); save it once more as CSV") from None


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path}: is not UTF-8 (byte {error.start:,}); save it once more as CSV UTF-8, with the sheet still open"
        ) from None
    except OSError as error:
        raise DatasetError(f"cannot read the sheet {str(path)!r}: {error.strerror}") from error


def _delimiter(text: str, column: str) -> str:
    """The one under which the first line has the column; comma where none does."""
    first = text.partition("\n")[0]
    for delimiter in _DELIMITERS:
        if column in [restored(cell.strip().strip('"')) for cell in first.split(delimiter)]:
            return delimiter
    return ","


@dataclass(frozen=True, slots=True)
class Rating:
    """`marks`: criterion -> mark, of those that were judged. `repeat` counts a rater's ratings of an answer from 0."""

    row_id: str
    cell: str
    question_id: str
    rater: str
    repeat: int
    marks: Mapping[str, Mark] = field(default_factory=dict)
    note: str = ""

    @property
    def place(self) -> Key:
        return self.cell, self.question_id


_RATING = TypeAdapter(Rating)


def read_ratings(store: RunStore) -> list[Rating]:
    """The ratings that a run folder holds.

    Raises:
        RunStoreError: review.jsonl cannot be read, or a line of it is none.
    """
    return [
        _rating(store, number, line) for number, line in enumerate(review_text(store.folder).split("\n"), 1) if line
    ]


def rating_lines(ratings: Iterable[Rating]) -> str:
    """The text of review.jsonl: by cell, question, rater and repeat."""
    ordered = sorted(ratings, key=lambda one: (*one.place, one.rater, one.repeat))
    return "".join(json.dumps(asdict(one)) + "\n" for one in ordered)


Became = Literal["added", "replaced", "unchanged"]
"""What an import did to a rater's ratings of an answer."""


def merge_ratings(
    before: Sequence[Rating], imported: Sequence[Rating]
) -> tuple[list[Rating], dict[Became, dict[str, int]]]:
    """All that a rater says of an answer now stands in place of all that the same rater said of it before.

    Also what became of the answers that the import rated: how many, by rater.
    """
    old, new = (grouped(((one.rater, one.row_id), one) for one in ratings) for ratings in (before, imported))
    counts: dict[Became, dict[str, int]] = {"added": {}, "replaced": {}, "unchanged": {}}
    for (rater, row_id), ratings in new.items():
        known = old.get((rater, row_id))
        became: Became = "added" if known is None else "unchanged" if known == ratings else "replaced"
        counts[became][rater] = counts[became].get(rater, 0) + 1
    return [one for ratings in (old | new).values() for one in ratings], counts


def _rating(store: RunStore, number: int, line: str) -> Rating:
    try:
        return _RATING.validate_json(line)
    except ValidationError as error:
        problem = content_problems(error, "the line", most=1)
        raise RunStoreError(
            f"{REVIEW} of run {store.run_id!r}, line {number}: {problem}; restore a copy, or delete it "
            "and import the sheets again"
        ) from None


_LISTED = 20
_QUOTED_CHARS = 120


def read_judged(paths: Sequence[Path], rows: Mapping[str, ReviewRow], tag: str) -> tuple[list[Rating], int]:
    """The ratings in several sheets, in their order; and how many rows have no mark, and so say nothing.

    Who rates is said in the column `rater`, or else by the name of the file. Where one rater judges a row more than
    once, these are repeats.

    Args:
        paths: the sheets.
        rows: row id -> the answer as the run has it.
        tag: what the ids of the run's rows begin with.

    Raises:
        DatasetError: a sheet is given twice, is none, or something in it cannot be; up to 20 places are listed.
    """
    if twice := [path for path, count in Counter(path.resolve() for path in paths).items() if count > 1]:
        raise DatasetError(f"{twice[0]}: is given twice; for repeats, hand in one sheet for each")
    ratings: list[Rating] = []
    problems: list[str] = []
    n_blank, repeats = 0, Counter[tuple[str, str]]()
    for path in paths:
        for row in read_sheet(path, (ROW_ID, QUESTION, ANSWER), columns()):
            if found := _problems(path, row, rows, tag):
                problems += found
                continue
            marks = _marks(row)
            if not marks:
                n_blank += 1
                continue
            shown = rows[_row_id(row)]
            rater = visible_text(" ".join(restored(row.cells.get(RATER, "")).split()) or path.stem)
            repeat = repeats[rater, shown.row_id]
            note = restored(row.cells.get(NOTE, "")).strip()
            ratings.append(Rating(shown.row_id, shown.cell, shown.question_id, rater, repeat, marks, note))
            repeats[rater, shown.row_id] += 1
    if problems:
        more = f"\nand {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
        raise DatasetError("\n".join(problems[:_LISTED]) + f"{more}\nnothing was imported")
    return ratings, n_blank


def _row_id(row: SheetRow) -> str:
    return restored(row.cells[ROW_ID].strip())


def _marks(row: SheetRow) -> dict[str, Mark]:
    written = {name: row.cells.get(name, "").strip().lower() for name in mark_columns()}
    return {name: READ_AS[mark] for name, mark in written.items() if mark}


def _problems(path: Path, row: SheetRow, rows: Mapping[str, ReviewRow], tag: str) -> list[str]:
    """What is wrong with one row, with file, line, column and value."""

    def at(column: str, problem: str) -> str:
        return f"{path}, line {row.line}, column {column}: {_quoted(row.cells[column])} {problem}"

    row_id = _row_id(row)
    shown = rows.get(row_id)
    if shown is None:
        if row_id.startswith(f"{tag}-"):
            return [at(ROW_ID, "is no answer of this run: it was changed, or the answer was asked again since")]
        return [at(ROW_ID, "is a row of another run, or of this one before its folder was renamed")]
    found = [
        at(column, f"is not what was exported, {_quoted(exported)}: put it back, in its own row; a review is of that")
        for column, exported in ((QUESTION, shown.question), (ANSWER, shown.answer))
        if not same_text(row.cells[column], exported)
    ]
    return found + [
        at(column, "is none of y, n, na, and not empty")
        for column in mark_columns()
        if (mark := row.cells.get(column, "").strip().lower()) and mark not in READ_AS
    ]


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _QUOTED_CHARS else text[:_QUOTED_CHARS] + "...")
