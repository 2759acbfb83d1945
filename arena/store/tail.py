"""A journal of records that grows while it is read: only what is new is read again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arena.errors import RunStoreError
from arena.files import open_regular
from arena.journal import RECORD_LINES, record_of, scan
from arena.journal.line import decode
from arena.store.folder import RECORDS
from arena.types import RunRecord


class RecordTail:
    """The records of a run folder, from the last one that was read. Takes no lock and writes nothing."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RECORDS
        self._inode: int | None = None
        self._end = 0
        self._lines = 0

    def restarted(self) -> bool:
        """Whether the journal is another than the one read so far, as after sealing; then it is read from its start."""
        try:
            status = self._path.stat()
        except OSError:
            return False
        known, self._inode = self._inode, status.st_ino
        if known is None or (known == status.st_ino and status.st_size >= self._end):
            return False
        self._end = self._lines = 0
        return True

    def new_records(self) -> Iterator[RunRecord]:
        """The records of whole lines since the last call, in the order written; a key may come more than once.

        Raises:
            RunStoreError: a line is damaged, or the journal cannot be read.
        """
        try:
            with open_regular(self._path) as file:
                file.seek(self._end)
                for text in file:
                    if not text.endswith(b"\n"):
                        return
                    line = decode(text, self._lines + 1, self._end)
                    if line is None:
                        self._name_damage()
                        return
                    record = record_of(self._path, line, RECORD_LINES)
                    self._end, self._lines = line.end, line.number
                    yield record
        except FileNotFoundError:
            return
        except OSError as error:
            raise RunStoreError(f"cannot read the journal {str(self._path)!r}: {error.strerror}") from error

    def _name_damage(self) -> None:
        """Let the reader of whole journals say which line is damaged."""
        for _ in scan(self._path):
            pass
