"""Sheets that reviewers filled in, read back: every row is known, and nothing but judgements has changed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.errors import DatasetError
from experiments.reviewing.cell_text import restored

_DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row of a sheet. `line`: its first line in the file, from 1. `cells`: column -> text as written."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A CSV file by its header."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[SheetRow, ...]


def read_sheet(path: Path, required: Sequence[str], known: Sequence[str]) -> Sheet:
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
    rows = []
    for line, cells in lines[1:]:
        if not any(cell.strip() for cell in cells):
            continue
        if surplus := [cell for cell in cells[len(header) :] if cell.strip()]:
            raise DatasetError(f"{path}, line {line}: {surplus[0]!r} stands beyond the last column, {header[-1]}")
        rows.append(SheetRow(line, dict(zip(header, [*cells, *[""] * len(header)], strict=False))))
    return Sheet(path, tuple(header), tuple(rows))


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
