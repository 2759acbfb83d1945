"""The journal: one checked line a record, appended whole or not at all, read without holding the file in memory.

    {"schema_version":4,"checksum":"1c291ca3","run":"line_0a1b2c3d4e5f6071","key":["vanilla/dense/1f2e3d4c","q1"],"record":{...}}

The checksum is the CRC-32 of all that follows its comma, as written. `run` tells under which settings the record was
made (empty = not known), so that a line out of another run is never taken for one of this. `key` makes the record one
of its kind; it begins with the cell and the question (of a payment: with what it was for). Both can be read without the
record.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from arena.errors import RunStoreError
from arena.files import open_regular, parse_json, sync_folder
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


Runs = Mapping[str, str]
"""Cell key -> the `run` that its lines must name."""


def scan(path: Path, runs: Runs | None = None) -> Iterator[Line]:
    """The whole lines of a journal in the order written, each checked against its checksum, no record parsed.

    Args:
        path: the journal; one that does not exist is empty.
        runs: what the lines of every cell must name (None: they are not looked at).

    Raises:
        RunStoreError: a line that has its end is damaged, of another schema version, or out of another run.
    """
    try:
        with open_regular(path) as file:
            start = 0
            for number, text in enumerate(file, start=1):
                if not text.endswith(b"\n"):
                    return
                line = decode(text, number, start)
                if line is None:
                    raise _damaged(path, number, text)
                if runs is not None:
                    _check_origin(path, line, runs)
                yield line
                start = line.end
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunStoreError(f"cannot read the journal {str(path)!r}: {error.strerror}") from error


def entries(
    path: Path, lines: LineFormat[T], runs: Runs | None = None, *, wanted: Callable[[Line], bool] | None = None
) -> Iterator[T]:
    """The records of any journal, in the order written; `wanted`: of which lines (None: all). Raises as `scan`."""
    for line in scan(path, runs):
        if wanted is None or wanted(line):
            yield record_of(path, line, lines)


def record_of(path: Path, line: Line, lines: LineFormat[T]) -> T:
    """The record of a line of the journal `path`. Raises `RunStoreError` if it is none that this version knows."""
    record = parse(line, lines)
    if record is None:
        raise RunStoreError(
            f"{path}, line {line.number}: whole, but no record that this version knows: read the run with the version "
            "that wrote it"
        )
    return record


def _damaged(path: Path, number: int, text: bytes) -> RunStoreError:
    written = schema_version(text)
    if written is not None and written not in READABLE:
        return RunStoreError(
            f"{path}, line {number}: of schema version {written}, and this version reads {READABLE[0]} to "
            f"{READABLE[-1]}: finish the run with the version that began it, or start a new one"
        )
    return RunStoreError(
        f"{path}, line {number}: damaged; the lines before it are whole. Restore a copy, or delete this line to lose "
        "only its record"
    )


def _check_origin(path: Path, line: Line, runs: Runs) -> None:
    cell = line.key[0]
    if cell not in runs:
        raise RunStoreError(
            f"{path}, line {line.number}: of cell {cell}, which this run does not have: take the line out"
        )
    if line.run != runs[cell]:
        raise RunStoreError(
            f"{path}, line {line.number}: mixed in from another configuration: it was made under "
            f"{line.run or 'none'!r}, and {cell} of this run is {runs[cell]!r}. Take the line out"
        )


class JournalWriter(Generic[T]):
    """Appends records, each written and, unless `synced` is off, synced to disk before `append` returns.

    What is written outlives a kill of the process; what is synced outlives a power cut.

    Args:
        path: the journal, made if it is not there; a torn last line is cut off.
        lines: the type of its records.
        runs: cell key -> what its lines name as their run (None: nothing, and lines found there are not looked at).
        end: where its last whole line ends, in bytes, for who has read it already (None: it is read through).
        synced: whether `append` waits for the disk; else `sync` does, for all so far.
    """

    def __init__(
        self,
        path: Path,
        lines: LineFormat[T],
        runs: Runs | None = None,
        *,
        end: int | None = None,
        synced: bool = True,
    ) -> None:
        self._path = path
        self._lines = lines
        self._runs = runs or {}
        self._end = max((line.end for line in scan(path, runs)), default=0) if end is None else end
        self._torn = True
        self._synced = synced
        try:
            self._file = path.open("ab", buffering=0)
            self._mend()
            sync_folder(path.parent)
        except OSError as error:
            raise RunStoreError(f"cannot write the journal {str(path)!r}: {error.strerror}") from error

    def append(self, record: T) -> None:
        """Write one record, whole or not at all.

        Raises:
            RunStoreError: the disk refused, or the file was deleted or written by someone else; what was written
                before stays readable.
        """
        line = encode(record, self._lines, self._runs.get(self._lines.key(record)[0], ""))
        try:
            self._mend()
            self._check_alone()
            self._torn = True
            written = 0
            while written < len(line):
                written += self._file.write(line[written:])
            if self._synced:
                os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):
                self._mend()
            raise self._refused(error) from error
        self._end += len(line)
        self._torn = False

    def sync(self) -> None:
        """Return once all that was appended is on disk; from another thread too, while records are appended.

        Raises:
            RunStoreError: the disk refused.
        """
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: OSError) -> RunStoreError:
        return RunStoreError(
            f"cannot write to the journal {str(self._path)!r}: {error.strerror}; all earlier records are kept. "
            "Make room, then continue with --resume"
        )

    def _mend(self) -> None:
        """Cut off what a failed write left behind."""
        if self._torn:
            self._file.truncate(self._end)
            self._torn = False

    def _check_alone(self) -> None:
        status = os.fstat(self._file.fileno())
        if status.st_nlink == 0:
            raise RunStoreError(f"the journal {str(self._path)!r} was deleted while the run went on")
        if status.st_size != self._end:
            raise RunStoreError(
                f"the journal {str(self._path)!r} was changed by someone else while the run went on: its lock does not "
                "hold on this file system; see that one process writes it, then continue with --resume"
            )

    def close(self) -> None:
        """Close the file; nothing is ever buffered."""
        self._file.close()

    def __enter__(self) -> JournalWriter[T]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
