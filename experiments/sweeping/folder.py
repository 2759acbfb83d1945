"""A sweep's folder.

RUNS_DIR/SWEEP_ID/
    sweep.json      design, points, what was reused, the curves' elbows; written before the first point, and after
    sweep.csv       a row per point and cell, derived
    curves.svg      the curves, derived
    POINT/          a run folder, one for every point; every command for runs works on it
    run.lock        held by the one process that sweeps
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.errors import RunStoreError
from arena.files import read_json
from arena.store import LOCK, MANIFEST, RunStore
from arena.store.files import RunLock, replace_json, replace_text

SWEEP, TABLE, PICTURE = "sweep.json", "sweep.csv", "curves.svg"


class SweepFolder:
    """The folder of one sweep. It is made by `holding`, and may not be there before."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def sweep_id(self) -> str:
        return self.path.name

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Make the folder and hold it; a second process is refused.

        Raises:
            RunStoreError: it cannot be made, or holds something else than a sweep.
        """
        self.check()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunStoreError(
                f"cannot make the sweep folder {str(self.path)!r}: {error.strerror}; choose another runs_dir"
            ) from error
        with RunLock(self.path).held():
            yield

    def check(self) -> None:
        """Raise `RunStoreError` where the folder is there and no sweep's."""
        if not self.path.exists() or (self.path / SWEEP).is_file():
            return
        if (self.path / MANIFEST).exists() or any(entry.name != LOCK for entry in self._entries()):
            raise RunStoreError(
                f"{str(self.path)!r} exists and is no sweep: choose another run_id in the config, or move it away"
            )

    def _entries(self) -> list[Path]:
        return list(self.path.iterdir()) if self.path.is_dir() else [self.path]

    def store(self, point: str) -> RunStore:
        """The run folder of a point, which may not be there yet."""
        return RunStore(self.path / point)

    def has(self, point: str) -> bool:
        """Whether the run of a point was begun."""
        return (self.path / point / MANIFEST).is_file()

    def write(self, summary: Mapping[str, Any], table: str | None = None, picture: str | None = None) -> None:
        """Write sweep.json and, where given, sweep.csv and curves.svg."""
        if table is not None:
            replace_text(self.path / TABLE, table)
        if picture is not None:
            replace_text(self.path / PICTURE, picture)
        replace_json(self.path / SWEEP, summary)

    def summary(self) -> dict[str, Any]:
        """sweep.json. Raises `RunStoreError` where it is damaged."""
        try:
            return dict(read_json(self.path / SWEEP))
        except (OSError, ValueError, TypeError) as error:
            raise RunStoreError(f"{SWEEP} of sweep {self.sweep_id!r} cannot be read: {error}") from error
