"""Records of a file that holds one JSON array of objects, or one object per line: its content says which.

Not read through the `datasets` library, whose tables give every column one type. With version 5.0.1, dates among the
answers come back as datetimes where all of them look like dates, the id "007" comes back as 7 beside ids that are
numbers, JSON lines fail with a cast error when a column of nulls holds lists after the first ten megabytes, and no
fault of a file is told with its line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from arena.datasets.lines import Row, as_row, read_rows, refuse_constant
from arena.errors import DatasetError

_SPACE = " \t\n\r"


def read_records(path: Path) -> Iterator[Row]:
    """The objects of a UTF-8 file in its order. A row's place is `FILE:LINE` or, in an array, `FILE, record N`.

    Memory holds the text of an array but only one of its objects.

    Raises:
        DatasetError: the file is missing, a folder or unreadable; a record is not UTF-8, not JSON or not an object.
    """
    return _array(path) if _starts_an_array(path) else read_rows(path)


def _starts_an_array(path: Path) -> bool:
    """Whether the first character that is no white space is `[`; what cannot be read is left to `read_rows`."""
    try:
        with path.open("rb") as stream:
            while block := stream.read(4096):
                if text := block.removeprefix(b"\xef\xbb\xbf").lstrip():
                    return text.startswith(b"[")
    except OSError:
        pass
    return False


def _array(path: Path) -> Iterator[Row]:
    text = _text(path)
    decoder = json.JSONDecoder(parse_constant=refuse_constant)
    at, number = _after_space(text, text.index("[") + 1), 0
    if text.startswith("]", at):
        at += 1
    else:
        while True:
            number += 1
            place = f"{path}, record {number}"
            try:
                value, end = decoder.raw_decode(text, at)
            except json.JSONDecodeError as error:
                raise DatasetError(f"{place}: not JSON: {error.msg} at {_line_and_column(text, error.pos)}") from None
            except (ValueError, RecursionError) as error:
                raise DatasetError(f"{place}: not JSON: {error}") from None
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


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wrong = f"byte {error.start + 1} (0x{error.object[error.start]:02x})"
        raise DatasetError(f"{path}: {wrong} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _line_and_column(text: str, at: int) -> str:
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
