"""The folder of an equal-budget comparison.

RUNS_DIR/EQ_ID/
    equal_budget.json   target, settings found, the trace of the search, what was achieved
    comparison.json     the runs at equal budget as one leaderboard, derived
    pilots/             a run folder per look of the search, on the part dev
    default/            the run of the config as it is, on the questions of the comparison
    equal/              a run folder per contestant at equal budget, and one of the controls
    run.lock            held by the one process that works on it

A sweep's folder.

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

EQUAL_BUDGET, COMPARISON = "equal_budget.json", "comparison.json"


class EqualFolder:
    """The folder; it is made by `holding`, and may not be there before."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self.fingerprint = fingerprint

    @property
    def pilots(self) -> Path:
        return self.path / "pilots"

    @property
    def equal(self) -> Path:
        return self.path / "equal"

    def check(self) -> None:
        """Refuse a folder that holds something else.

        Raises:
            RunStoreError: it is no equal-budget comparison, or one with other settings.
        """
        place = self.path / EQUAL_BUDGET
        if not place.is_file():
            if self.path.exists() and any(one.name != LOCK for one in self._entries()):
                raise RunStoreError(
                    f"{str(self.path)!r} exists and is no equal-budget comparison: choose another --run-id"
                )
            return
        try:
            made = read_json(place).get("fingerprint")
        except (OSError, ValueError, AttributeError) as error:
            raise RunStoreError(f"{str(place)!r} cannot be read: {error}; choose another --run-id") from error
        if made != self.fingerprint:
            raise RunStoreError(
                f"{str(self.path)!r} was made under other settings ({made}, and these are {self.fingerprint}): restore "
                "them, or choose another --run-id"
            )

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Make the folder and hold it; a second process is refused."""
        self.check()
        try:
            for folder in (self.pilots, self.equal):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunStoreError(f"cannot make {str(self.path)!r}: {error.strerror}; choose another runs_dir") from error
        with RunLock(self.path).held():
            yield

    def write(self, summary: Mapping[str, Any], comparison: Mapping[str, Any] | None = None) -> None:
        """Write equal_budget.json and, where given, comparison.json."""
        if comparison is not None:
            replace_json(self.path / COMPARISON, comparison)
        replace_json(self.path / EQUAL_BUDGET, summary)

    def _entries(self) -> list[Path]:
        return list(self.path.iterdir()) if self.path.is_dir() else [self.path]


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
