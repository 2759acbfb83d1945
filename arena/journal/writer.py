"""Appending to a journal: whole lines or none."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Generic, TypeVar

from arena.errors import RunStoreError
from arena.journal.line import LineFormat, encode
from arena.journal.reading import Runs, scan

T = TypeVar("T")


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


def sync_folder(folder: Path) -> None:
    """Make the names of new files as durable as their content. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
