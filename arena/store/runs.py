"""A journal of records that grows while it is read: only what is new is read again.

Which run is meant when none is named.

review.jsonl: what reviewers said of a run's answers, one rating a line, written whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from arena.errors import RunStoreError
from arena.files import open_regular
from arena.store.files import read_text, replace_text
from arena.store.folder import FINISHED, MANIFEST, RECORDS, REVIEW, RunStore
from arena.store.journal import RECORD_LINES, decode, record_of, scan
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


def latest_run(runs_dir: Path, *, unfinished: bool = False) -> RunStore:
    """The run most recently started in `runs_dir`; with `unfinished`, of those that can be continued.

    Raises:
        RunStoreError: there is none.
    """
    started: list[tuple[str, str, RunStore]] = []
    for path in runs_dir.glob(f"[!.]*/{MANIFEST}"):  # what begins with a dot is half made
        store = RunStore(path.parent)
        with suppress(RunStoreError):  # a damaged run is no candidate, and no obstacle to the others
            manifest = store.manifest()
            if not unfinished or manifest["status"] != FINISHED:
                started.append((manifest["started"], store.run_id, store))
    if not started:
        raise RunStoreError(f"no {'unfinished ' if unfinished else ''}run in {str(runs_dir)!r}")
    return max(started, key=lambda run: run[:2])[2]


def review_text(folder: Path) -> str:
    """The file of a run folder as text; empty where nobody reviewed anything. Raises as `RunStore.labels_text`."""
    path = folder / REVIEW
    return read_text(path) if path.exists() else ""


def write_review(folder: Path, text: str) -> None:
    """Replace it. Whoever calls holds the folder."""
    replace_text(folder / REVIEW, text)
