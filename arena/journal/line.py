"""One line of a journal.

    {"schema_version":4,"checksum":"1c291ca3","run":"line_0a1b2c3d4e5f6071","key":["vanilla/dense/1f2e3d4c","q1"],"record":{...}}

The checksum is the CRC-32 of all that follows its comma, as written. `run` tells under which settings the record was
made (empty = not known), so that a line out of another run is never taken for one of this.
`key` makes the record one of its kind; it begins with the cell and the question (of a payment: with what it
was for). Both can be read without the record.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from arena.errors import RunStoreError
from arena.files import parse_json
from arena.types import PaidAttempt, RunRecord, Verdict

SCHEMA_VERSION = 4
READABLE = (3, 4)
"""Versions that are read; the third knows nothing of what an answer was shown."""

T = TypeVar("T")

_HEAD = b'{"schema_version":%d,"checksum":"%08x",'
_HEAD_BYTES = len(_HEAD % (SCHEMA_VERSION, 0))
_RECORD = b',"record":'
"""Where the record begins: inside JSON strings every quote is escaped, so that this is found nowhere before."""


@dataclass(frozen=True, slots=True)
class LineFormat(Generic[T]):
    """How records of one type become lines: their JSON form, and what makes each one of its kind."""

    adapter: TypeAdapter[T]
    key: Callable[[T], tuple[str, ...]]


RECORD_LINES = LineFormat(TypeAdapter(RunRecord), lambda record: (record.cell.key, record.question_id))
VERDICT_LINES = LineFormat(
    TypeAdapter(Verdict),
    lambda one: (one.cell, one.question_id, one.metric, one.judge_sha, one.subject_sha, str(one.repeat)),
)

PAID_LINES = LineFormat(TypeAdapter(PaidAttempt), lambda one: (one.purpose, one.run, one.entry))


@dataclass(frozen=True, slots=True)
class Line:
    """A whole line, its record not yet read.

    `number` counts from 1; `start` and `end` are its bytes in the file, end exclusive.
    """

    number: int
    run: str
    key: tuple[str, ...]
    start: int
    end: int
    text: bytes

    @property
    def body(self) -> bytes:
        """The record, as JSON."""
        return self.text[self.text.index(_RECORD) + len(_RECORD) : -2]


def encode(record: T, lines: LineFormat[T], run: str = "") -> bytes:
    """The record's journal line, newline included.

    Raises:
        RunStoreError: it cannot be written as JSON, or what is written could not be read back.
    """
    key = lines.key(record)
    where = f"question {key[1]!r} of {key[0]}"
    try:
        body = lines.adapter.dump_json(record)
        place = json.dumps({"run": run, "key": key}, ensure_ascii=False, separators=(",", ":"))[1:-1].encode()
    except (PydanticSerializationError, UnicodeEncodeError) as error:
        raise RunStoreError(f"the record of {where} cannot be written as JSON: {error}") from error
    _check_readable(body, key, lines, where)
    rest = place + _RECORD + body + b"}"
    return _HEAD % (SCHEMA_VERSION, zlib.crc32(rest)) + rest + b"\n"


def _check_readable(body: bytes, key: tuple[str, ...], lines: LineFormat[T], where: str) -> None:
    """One line that nobody can read would make the whole run unreadable, so that it is not written."""
    try:
        if lines.key(lines.adapter.validate_json(body)) == key:
            return
        problem = "its key would be another"
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        problem = f"{'.'.join(map(str, first['loc']))} is {first['input']!r}"
    raise RunStoreError(f"the record of {where} could not be read back ({problem}) and is not written")


def decode(text: bytes, number: int, start: int) -> Line | None:
    """The line with that text, newline included; None if it is damaged, or of a schema version that is not read."""
    checksum = zlib.crc32(memoryview(text)[_HEAD_BYTES:-1])
    if text[:_HEAD_BYTES] not in [_HEAD % (version, checksum) for version in READABLE] or not text.endswith(b"}\n"):
        return None
    try:
        head = parse_json(b"{" + text[_HEAD_BYTES : text.index(_RECORD, _HEAD_BYTES)] + b"}")
        return Line(number, head["run"], tuple(head["key"]), start, start + len(text), text)
    except (ValueError, KeyError, TypeError):
        return None


def schema_version(text: bytes) -> int | None:
    """The schema version that a line names; None if it names none."""
    number, found, _ = text.removeprefix(b'{"schema_version":').partition(b",")
    return int(number) if found and number.isdigit() else None


def parse(line: Line, lines: LineFormat[T]) -> T | None:
    """The record of a line; None if it is none of this version's."""
    try:
        return lines.adapter.validate_json(line.body)
    except ValidationError:
        return None
