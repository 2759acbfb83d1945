"""The journal: one self-contained, checksummed line per question and cell, appended and synced.

    {"schema_version":2,"checksum":"1c291ca3","record":{...}}

The checksum is the CRC-32 of the record's bytes as written. A line cut short by a kill or a full disk is the last one
and has no line end: readers drop it and the next writer cuts it off. Any other damaged line is an error.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from arena.errors import RunStoreError
from arena.types import RunRecord

SCHEMA_VERSION = 2

_RECORD = TypeAdapter(RunRecord)
_HEAD = b'{"schema_version":%d,"checksum":"%08x","record":'
_HEAD_CHARS = len(_HEAD % (SCHEMA_VERSION, 0))


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of the journal and where its line lies in the file (bytes, end exclusive)."""

    record: RunRecord
    start: int
    end: int


def encode(record: RunRecord) -> bytes:
    """The record's journal line, newline included."""
    try:
        body = _RECORD.dump_json(record)
    except PydanticSerializationError as error:
        where = f"question {record.question_id!r} of {record.cell.key}"
        raise RunStoreError(f"the record of {where} cannot be written as JSON: {error}") from error
    return _HEAD % (SCHEMA_VERSION, zlib.crc32(body)) + body + b"}\n"


def read(path: Path) -> Iterator[Entry]:
    """The records of a journal in the order written; memory does not grow with the file.

    Raises:
        RunStoreError: a line that has its end is damaged, or of another schema version.
    """
    try:
        with path.open("rb") as file:
            start = 0
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                record = _decode(line)
                if record is None:
                    raise RunStoreError(
                        f"{path}, line {number}: damaged, or of another schema version than {SCHEMA_VERSION}; the "
                        "lines before it are whole. Restore a copy, or delete this line to lose only its record"
                    )
                yield Entry(record, start, start + len(line))
                start += len(line)
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunStoreError(f"cannot read the journal {str(path)!r}: {error.strerror}") from error


class JournalWriter:
    """Appends records, each synced to disk before `append` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        end = max((entry.end for entry in read(path)), default=0)
        try:
            self._file = path.open("ab", buffering=0)
            self._file.truncate(end)
        except OSError as error:
            raise RunStoreError(f"cannot write the journal {str(path)!r}: {error.strerror}") from error
        self._end = end

    def append(self, record: RunRecord) -> None:
        """Write one record, whole or not at all.

        Raises:
            RunStoreError: the disk refused, or the file was deleted; what was written before stays readable.
        """
        line = encode(record)
        if os.fstat(self._file.fileno()).st_nlink == 0:
            raise RunStoreError(f"the journal {str(self._path)!r} was deleted while the run went on: start a new run")
        try:
            written = 0
            while written < len(line):
                written += self._file.write(line[written:])
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(self._end)
            raise RunStoreError(
                f"cannot write to the journal {str(self._path)!r}: {error.strerror}; all earlier records are kept. "
                "Make room, then continue with --resume"
            ) from error
        self._end += len(line)

    def close(self) -> None:
        """Close the file; nothing is ever buffered."""
        self._file.close()

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _decode(line: bytes) -> RunRecord | None:
    body = line[_HEAD_CHARS:-2]
    if not line.endswith(b"}\n") or line[:_HEAD_CHARS] != _HEAD % (SCHEMA_VERSION, zlib.crc32(body)):
        return None
    try:
        return _RECORD.validate_json(body)
    except ValidationError:
        return None
