"""Reading a journal, line by line; memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from arena.errors import RunStoreError
from arena.files import open_regular
from arena.journal.line import READABLE, RECORD_LINES, Line, LineFormat, decode, parse, schema_version
from arena.types import RunRecord

T = TypeVar("T")

Runs = Mapping[str, str]
"""Cell key -> the `run` that its lines must name."""


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """One record of a journal and where its line lies in the file (bytes, end exclusive)."""

    record: T
    start: int
    end: int


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


def read(path: Path, runs: Runs | None = None) -> Iterator[Entry[RunRecord]]:
    """The run records of a journal. Arguments and errors are those of `scan`."""
    return entries(path, RECORD_LINES, runs)


def entries(
    path: Path, lines: LineFormat[T], runs: Runs | None = None, *, wanted: Callable[[Line], bool] | None = None
) -> Iterator[Entry[T]]:
    """The records of any journal, in the order written; `wanted`: of which lines (None: all). Raises as `scan`."""
    for line in scan(path, runs):
        if wanted is None or wanted(line):
            yield Entry(record_of(path, line, lines), line.start, line.end)


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
