"""The lock of a run folder: one process writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from arena.errors import RunStoreError

LOCK = "run.lock"


class RunLock:
    """Held by whoever writes; the holder may take it again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder / LOCK, thread_local=False)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock.

        Raises:
            RunStoreError: another process holds it, which is not waited for; or there is no such folder.
        """
        if not self._folder.is_dir():  # else it would be made to hold the lock
            raise RunStoreError(f"there is no run folder {str(self._folder)!r}")
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            raise RunStoreError(
                f"run {self._folder.name!r} is being written by another process: wait for it, or choose another "
                "--run-id"
            ) from None
        except OSError as error:
            raise RunStoreError(f"cannot lock run folder {str(self._folder)!r}: {error.strerror}") from error
        try:
            yield
        finally:
            self._lock.release()
