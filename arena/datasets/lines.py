"""JSON lines as the datasets read them: every complaint names the file, the line and the field."""

from __future__ import annotations

import codecs
import json
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from arena.errors import DatasetError

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

    def objects(self, name: str) -> tuple[Row, ...]:
        """A required list of objects, each a row that knows its place in this one."""
        members = self.items(name, dict)
        return tuple(Row(f"{self.place}, {name}[{index}]", member) for index, member in enumerate(members))

    def _typed(self, name: str, value: Any, kind: type[T]) -> T:
        if type(value) is not kind:  # not isinstance: True is an int in Python, not in JSON
            found = _JSON_NAMES[type(value)]
            raise self.error(f"field {name!r} must be {_JSON_NAMES[kind]}, not {found}: {reprlib.repr(value)}")
        return value


def read_rows(path: Path) -> Iterator[Row]:
    """The objects of a UTF-8 file with one JSON object per line, in order. Blank lines are skipped.

    Memory stays at one line.

    Raises:
        DatasetError: the file is missing, a folder or unreadable; a line is not UTF-8, not JSON (NaN and
            lone surrogates included) or not an object.
    """
    try:
        if path.is_dir():
            raise DatasetError(f"{path} is a folder; name the JSON-lines file in it")
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                if line.strip():
                    yield _parse(f"{path}:{number}", line)
    except FileNotFoundError:
        raise DatasetError(f"{path}: no such file; check the path (relative to {Path.cwd()})") from None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}") from error


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


def refuse_constant(name: str) -> NoReturn:
    """What a decoder does with NaN and the infinities."""
    raise ValueError(f"{name} is no JSON value")


def _parse(place: str, raw: bytes) -> Row:
    try:
        line = raw.rstrip().decode()
        value = json.loads(line, parse_constant=refuse_constant)
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1} of the line (0x{raw[error.start]:02x})"
        raise DatasetError(f"{place}: {byte} is not UTF-8; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        problem = f"{error.msg} at column {error.colno}"
        raise DatasetError(f"{place}: not JSON: {problem}; the file needs one JSON object per line") from None
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{place}: not JSON: {error}") from None
    return as_row(place, value, line)
