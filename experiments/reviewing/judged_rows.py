"""From rows of filled sheets to ratings, or to a list of all that is wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from arena.errors import DatasetError
from arena.report.question import visible_text
from experiments.reviewing.cell_text import restored, same_text
from experiments.reviewing.filled import Sheet, SheetRow, read_sheet
from experiments.reviewing.ratings import Rating
from experiments.reviewing.rows import ReviewRow
from experiments.reviewing.rubric import READ_AS, Mark
from experiments.reviewing.sheet import ANSWER, COLUMNS, MARK_COLUMNS, NOTE, QUESTION, RATER, ROW_ID

_LISTED = 20
_QUOTED_CHARS = 120


@dataclass(slots=True)
class Judged:
    """What sheets hold. `n_blank`: rows without a mark, which say nothing."""

    ratings: list[Rating] = field(default_factory=list)
    n_blank: int = 0


def read_judged(paths: Sequence[Path], rows: Mapping[str, ReviewRow], tag: str) -> Judged:
    """The ratings in several sheets, in their order.

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
    judged, problems, repeats = Judged(), list[str](), Counter[tuple[str, str]]()
    for path in paths:
        sheet = read_sheet(path, (ROW_ID, QUESTION, ANSWER), COLUMNS)
        for row in sheet.rows:
            found = _problems(sheet, row, rows, tag)
            problems += found
            marks = {} if found else _marks(row)
            if found or not marks:
                judged.n_blank += not found
                continue
            shown = rows[_row_id(row)]
            rater = visible_text(" ".join(restored(row.cells.get(RATER, "")).split()) or path.stem)
            place = (rater, shown.row_id)
            note = restored(row.cells.get(NOTE, "")).strip()
            judged.ratings.append(
                Rating(shown.row_id, shown.cell, shown.question_id, rater, repeats[place], marks, note)
            )
            repeats[place] += 1
    if problems:
        more = f"\nand {len(problems) - _LISTED} more" if len(problems) > _LISTED else ""
        raise DatasetError("\n".join(problems[:_LISTED]) + f"{more}\nnothing was imported")
    return judged


def _row_id(row: SheetRow) -> str:
    return restored(row.cells[ROW_ID].strip())


def _marks(row: SheetRow) -> dict[str, Mark]:
    written = {name: row.cells.get(name, "").strip().lower() for name in MARK_COLUMNS}
    return {name: READ_AS[mark] for name, mark in written.items() if mark}


def _problems(sheet: Sheet, row: SheetRow, rows: Mapping[str, ReviewRow], tag: str) -> list[str]:
    """What is wrong with one row, with file, line, column and value."""

    def at(column: str, problem: str) -> str:
        return f"{sheet.path}, line {row.line}, column {column}: {_quoted(row.cells[column])} {problem}"

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
        for column in MARK_COLUMNS
        if (mark := row.cells.get(column, "").strip().lower()) and mark not in READ_AS
    ]


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _QUOTED_CHARS else text[:_QUOTED_CHARS] + "...")
