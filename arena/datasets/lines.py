"""JSON lines as the datasets read them: every complaint names the file, the line and the field."""

from __future__ import annotations

import codecs
import json
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from arena.errors import DatasetError
from arena.files import DECODER, fault_of

MOST_HOPS = 100
"""Facts on one reasoning path; a larger number is a mistake, and pages have a row for each."""

T = TypeVar("T", str, int, float, bool, list[Any], dict[str, Any])

_JSON_NAMES = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One JSON object of a file. `place` says where it stands: `FILE:LINE`, then the field it is nested in."""

    place: str
    fields: Mapping[str, Any]

    def error(self, problem: str) -> DatasetError:
        """`problem` with its place in front, to be raised by the caller."""
        return DatasetError(f"{self.place}: {problem}")

    def require(self, name: str, kind: type[T]) -> T:
        """The value of a field that must be there and be of `kind`."""
        if name not in self.fields:
            there = ", ".join(repr(field) for field in self.fields) or "none"
            raise self.error(f"no field {name!r}; fields there: {there}")
        return self._typed(name, self.fields[name], kind)

    def optional(self, name: str, kind: type[T]) -> T | None:
        """The value of a field of `kind`, None when it is absent or null."""
        value = self.fields.get(name)
        return None if value is None else self._typed(name, value, kind)

    def identifier(self, name: str) -> str:
        """A required string that is not blank."""
        value = self.require(name, str)
        if not value.strip():
            raise self.error(f"field {name!r} is blank; every record needs its own")
        return value

    def items(self, name: str, kind: type[T]) -> tuple[T, ...]:
        """A required list whose members are all of `kind`."""
        values: list[Any] = self.require(name, list)
        return tuple(self._typed(f"{name}[{index}]", value, kind) for index, value in enumerate(values))

    def count(self, name: str, most: int) -> int | None:
        """A whole number from 0 to `most`, None when it is absent or null."""
        value = self.optional(name, int)
        if value is not None and not 0 <= value <= most:
            raise self.error(f"field {name!r} must be from 0 to {most}, not {reprlib.repr(value)}")
        return value

    def objects(self, name: str) -> tuple[Row, ...]:
        """A required list of objects, each a row that knows its place in this one."""
        members = self.items(name, dict)
        return tuple(Row(f"{self.place}, {name}[{index}]", member) for index, member in enumerate(members))

    def _typed(self, name: str, value: Any, kind: type[T]) -> T:
        if type(value) is not kind:  # not isinstance: True is an int in Python, not in JSON
            found = _JSON_NAMES.get(type(value), f"a {type(value).__name__}")  # a column of a table may hold more
            raise self.error(f"field {name!r} must be {_JSON_NAMES[kind]}, not {found}: {reprlib.repr(value)}")
        return value


def parse_lines(path: Path, stream: Iterable[bytes]) -> Iterator[Row]:
    """The objects of UTF-8 lines with one JSON object each, in order. Blank lines are skipped.

    Memory stays at one line. `path` is for messages.

    Raises:
        DatasetError: a line is not UTF-8, not JSON (NaN, lone surrogates, numbers that no double holds and keys given
            twice included) or not an object.
    """
    for number, raw in enumerate(stream, start=1):
        line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        if line.strip():
            yield _parse(f"{path}:{number}", line)


def as_row(place: str, value: Any, source: str, per: str = "line") -> Row:
    """`value`, parsed from the JSON text `source`, as a row; the file should hold one object `per` what.

    Raises:
        DatasetError: it is not an object, or holds half a surrogate pair.
    """
    if "\\ud" in source.lower():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DatasetError(f"{place}: half a surrogate pair (\\ud800 to \\udfff alone) is not text") from None
    if not isinstance(value, dict):
        raise DatasetError(
            f"{place}: {_JSON_NAMES[type(value)]}, not an object; the file needs one JSON object per {per}"
        )
    return Row(place, value)


def _parse(place: str, raw: bytes) -> Row:
    try:
        line = raw.strip().decode()
        value = DECODER.decode(line)
    except UnicodeDecodeError as error:
        start = len(raw) - len(raw.lstrip()) + error.start
        byte = f"byte {start + 1} of the line (0x{raw[start]:02x})"
        raise DatasetError(f"{place}: {byte} is not UTF-8; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        problem = f"{error.msg} at column {error.colno + len(raw) - len(raw.lstrip())}"
        raise DatasetError(f"{place}: not JSON: {problem}; the file needs one JSON object per line") from None
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{place}: not JSON: {fault_of(error)}") from None
    return as_row(place, value, line)
