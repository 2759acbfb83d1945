"""Files of an index: remembered hashes, the lock of its one writer, and progress reports.

A hash is remembered, so that a file of gigabytes is read once, and again only when its size or modification time
changes. Until an index is whole, its writer works in a folder beside it.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from arena.files import file_sha256, read_json, write_whole

STAMPS = ".verified.json"

Stamp = list[int | str]
"""Size, modification time in nanoseconds, SHA-256."""


def stamped_sha256(folder: Path, path: str) -> str:
    """SHA-256 of `folder / path`, from its stamp where one holds. Raises `OSError`."""
    place = folder / path
    status = place.stat()
    stamp = _stamps(folder).get(path)
    if stamp is not None and stamp[:2] == [status.st_size, status.st_mtime_ns]:
        return str(stamp[2])
    return file_sha256(place)


def stamp(folder: Path, path: str, sha256: str) -> None:
    """Remember the hash of a file that was just read."""
    status = (folder / path).stat()
    known = _stamps(folder)
    stamps = known | {path: [status.st_size, status.st_mtime_ns, sha256]}
    if stamps == known:
        return
    with suppress(OSError):  # weights in a read-only folder are as good; they are hashed every time
        write_whole(folder / STAMPS, json.dumps(stamps, indent=1), shared=True)


def _stamps(folder: Path) -> dict[str, Stamp]:
    """What was hashed, by path; empty when nothing readable says so, which only costs another hash."""
    try:
        stamps = read_json(folder / STAMPS)
    except (OSError, ValueError):
        return {}
    if not isinstance(stamps, dict):
        return {}
    return {path: entry for path, entry in stamps.items() if isinstance(entry, list) and len(entry) == 3}


class Progress(Protocol):
    """Called now and then, from the thread that works, with monotonically growing `done`."""

    def __call__(self, done: int, total: int | None, label: str) -> None:
        """`done` of `total` units (bytes, passages); `total` is None while unknown; `label` says of what."""
        ...


def silent(done: int, total: int | None, label: str) -> None:
    """Report to nobody."""


WRITER = "writer.json"
_FIRST_SECONDS = 0.2  # in which a writer has written who it is, and a small index is whole
_LOOK_AGAIN_SECONDS = 5.0  # whether it is still the same process that is waited for


def work_folder(folder: Path) -> Path:
    """Where an index that is to be at `folder` is built; it stays behind when the build is killed."""
    return folder.with_name(f".{folder.name}.building")


def unheard(text: str) -> None:
    """Tell nobody."""


@contextmanager
def only_writer(
    folder: Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC), *, tell: Callable[[str], None] = unheard
) -> Iterator[Path]:
    """Be the only process that writes the index at `folder`; gives the work folder, removed if it is left empty.

    Where another one writes it, `tell` hears who, and it is waited for. The lock is the operating system's and ends
    with the process, however it ends: one that was killed holds nobody up. Raises `OSError` where files cannot be
    written.
    """
    work = work_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = _lock(folder)
    _await(lock, folder, tell)
    try:
        work.mkdir(exist_ok=True)
        writer = {"pid": os.getpid(), "host": socket.gethostname(), "since": clock().isoformat(timespec="seconds")}
        (work / WRITER).write_text(json.dumps(writer), encoding="utf-8")
        yield work
    finally:
        (work / WRITER).unlink(missing_ok=True)
        with suppress(OSError):  # it holds what a later build has to discard
            work.rmdir()
        lock.release()


def _await(lock: FileLock, folder: Path, tell: Callable[[str], None]) -> None:
    told: str | None = None
    patience = _FIRST_SECONDS
    while True:
        try:
            lock.acquire(timeout=patience, poll_interval=_FIRST_SECONDS)
        except Timeout:
            holder = _holder(work_folder(folder))
            if holder != told:
                tell(f"the index {str(folder)!r} is being built by {holder}: waiting for it")
            told, patience = holder, _LOOK_AGAIN_SECONDS
        else:
            return


def _lock(folder: Path) -> FileLock:
    # The file outlives the lock: removing it would let two processes hold two locks of one name.
    return FileLock(folder.with_name(f".{folder.name}.lock"))


def _holder(work: Path) -> str:
    try:
        writer = read_json(work / WRITER)
        return f"process {writer['pid']} on {writer['host']} since {writer['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
