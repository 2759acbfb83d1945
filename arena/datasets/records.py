"""Records of any data file: a JSON array of objects, one object per line, or a Parquet table, packed or not.

What the file holds says which, not its name. JSON is not read through the `datasets` library, whose tables give every
column one type. With version 5.0.1, dates among the answers come back as datetimes where all of them look like dates,
the id "007" comes back as 7 beside ids that are numbers, JSON lines fail with a cast error when a column of nulls holds
lists after the first ten megabytes, and no fault of a file is told with its line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from arena.datasets.files import PARQUET, open_data
from arena.datasets.lines import Row, as_row, parse_lines
from arena.errors import DatasetError
from arena.files import DECODER, fault_of

_SPACE = " \t\n\r"


def read_records(path: Path) -> Iterator[Row]:
    """The objects of a file in its order; JSON is UTF-8.

    A row's place is `FILE:LINE`, in an array `FILE, record N`, in a table `FILE, row N`. Memory holds one line, the
    text of an array and one of its objects, or one batch of a table. A pipe can be read once.

    Raises:
        DatasetError: the file is missing, a folder, unreadable, or something else than data (the message says what);
            a record is not UTF-8, not JSON or not an object.
    """
    with open_data(path) as (head, stream):
        if head.startswith(PARQUET):
            yield from _table(path, stream)
        elif head.startswith(b"["):
            yield from _array(path, stream)
        else:
            yield from parse_lines(path, stream)


def _table(path: Path, stream: BinaryIO) -> Iterator[Row]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # A file on disk is read batch by batch; what was unpacked or piped has no end to begin with.
        table = parquet.ParquetFile(path if stream.seekable() else pa.BufferReader(stream.read()))
        number = 0
        for batch in table.iter_batches(batch_size=1024):
            for fields in batch.to_pylist():
                number += 1
                yield Row(f"{path}, row {number}", {name: _plain(value) for name, value in fields.items()})
    except pa.ArrowException as error:
        raise DatasetError(f"{path} is a damaged Parquet file ({error}); fetch it again") from None


def _plain(value: Any) -> Any:
    """A cell as JSON would have it: a column of floats has NaN where it has no value."""
    return None if isinstance(value, float) and value != value else value


def _array(path: Path, stream: BinaryIO) -> Iterator[Row]:
    text = _text(path, stream)
    at, number = _after_space(text, text.index("[") + 1), 0
    if text.startswith("]", at):
        at += 1
    else:
        while True:
            number += 1
            place = f"{path}, record {number}"
            try:
                value, end = DECODER.raw_decode(text, at)
            except json.JSONDecodeError as error:
                raise DatasetError(f"{place}: not JSON: {error.msg} at {_line_and_column(text, error.pos)}") from None
            except (ValueError, RecursionError) as error:
                raise DatasetError(f"{place}: not JSON: {fault_of(error)}") from None
            yield as_row(place, value, text[at:end], per="record")
            at = _after_space(text, end)
            if not text.startswith((",", "]"), at):
                raise DatasetError(f"{place}: not JSON: expected ',' or ']' at {_line_and_column(text, at)}")
            at += 1
            if text[at - 1] == "]":
                break
            at = _after_space(text, at)
    if (end := _after_space(text, at)) < len(text):
        raise DatasetError(f"{path}: more text after the array, at {_line_and_column(text, end)}; keep one array")


def _text(path: Path, stream: BinaryIO) -> str:
    try:
        return stream.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = f"byte {error.start + 1} (0x{error.object[error.start]:02x})"
        raise DatasetError(f"{path}: {wrong} is not UTF-8; save the file as UTF-8") from None


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _line_and_column(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
