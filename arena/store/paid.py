"""paid.jsonl: the ledger of a run's payments, written ahead.

Every attempt that is paid for is here before its reply is used: before it is cached, recorded or counted. It is written
(write(2)) when `enter` returns, so that a kill of the process, with -9 too, takes only what was still in flight. It is
on disk (fsync) at most `SYNC_SECONDS` later, and before any record that rests on it, so that a power cut takes at most
the attempts of that time, and none that a journal has. One fsync serves all attempts of that time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from arena.errors import RunStoreError
from arena.store.journal import PAID_LINES, JournalWriter
from arena.types import PaidAttempt

SYNC_SECONDS = 1.0
_BLOCK_BYTES = 1 << 16


class PaidLedger:
    """Enters attempts of one process; see the module for what is kept when."""

    def __init__(self, writer: JournalWriter[PaidAttempt], run_id: str) -> None:
        self._writer = writer
        self._run_id = run_id
        self._session = uuid4().hex[:12]
        self._entered = 0
        self._dirty = False
        self._refused: RunStoreError | None = None
        self._closing = threading.Event()
        self._syncing = threading.Lock()

    def enter(self, paid: PaidAttempt) -> None:
        """Write one attempt.

        Raises:
            RunStoreError: the disk refused this or an earlier one, or the file was deleted.
        """
        if self._refused is not None:
            raise self._refused
        self._entered += 1
        self._writer.append(replace(paid, run=self._run_id, entry=f"{self._session}-{self._entered}"))
        self._dirty = True

    def sync(self) -> None:
        """Return once all that was entered is on disk. Raises `RunStoreError` if the disk refused."""
        with self._syncing:
            if self._dirty:
                # Before the sync: what is entered during it may not be on disk, and is left to the next.
                self._dirty = False
                self._writer.sync()

    @contextmanager
    def synced_now_and_then(self) -> Iterator[None]:
        """While this is open, no attempt waits for the disk longer than `SYNC_SECONDS`; at its end, none does."""
        thread = threading.Thread(target=self._keep_syncing, name="paid-ledger", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._closing.set()
            thread.join()
            self.sync()

    def _keep_syncing(self) -> None:
        while not self._closing.wait(SYNC_SECONDS):
            try:
                self.sync()
            except RunStoreError as error:
                self._refused = error
                return


@contextmanager
def open_ledger(path: Path, run_id: str) -> Iterator[PaidLedger]:
    """The ledger at `path`, made if it is not there; whoever opens it holds the folder.

    Raises:
        RunStoreError: it cannot be written.
    """
    with JournalWriter(path, PAID_LINES, end=_end_of_whole_lines(path), synced=False) as writer:
        ledger = PaidLedger(writer, run_id)
        with ledger.synced_now_and_then():
            yield ledger


def _end_of_whole_lines(path: Path) -> int:
    """Bytes up to the end of the last whole line, found from the file's end: what it says was read for its sum."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            while end:
                begin = max(0, end - _BLOCK_BYTES)
                file.seek(begin)
                found = file.read(end - begin).rfind(b"\n")
                if found >= 0:
                    return begin + found + 1
                end = begin
    except FileNotFoundError:
        pass
    except OSError as error:
        raise RunStoreError(f"cannot read the journal {str(path)!r}: {error.strerror}") from error
    return 0
