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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import RunStoreError
from arena.files import read_json
from arena.store import LOCK, MANIFEST, RunStore
from arena.store.files import RunLock, replace_json, replace_text

EQUAL_BUDGET, COMPARISON = "equal_budget.json", "comparison.json"
SWEEP, TABLE, PICTURE = "sweep.json", "sweep.csv", "curves.svg"


class StudyFolder:
    """A folder around the run folders of one study. It is made by `holding`, and may not be there before."""

    what: ClassVar[str]
    summary_name: ClassVar[str]
    """The file without which a folder is none of this kind."""
    elsewhere: ClassVar[str]
    """How a user chooses another folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def parts(self) -> Sequence[Path]:
        """The folders in it that are made with it."""
        return ()

    def check(self) -> None:
        """Raise `RunStoreError` where the folder is there and holds something else."""
        if (self.path / self.summary_name).is_file() or not self.path.exists():
            return
        # The lock alone is what a process leaves that was stopped before it wrote anything.
        if not self.path.is_dir() or any(one.name != LOCK for one in self.path.iterdir()):
            raise RunStoreError(f"{str(self.path)!r} exists and is no {self.what}: {self.elsewhere}")

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Make the folder and hold it; a second process is refused.

        Raises:
            RunStoreError: it cannot be made, or see `check`.
        """
        self.check()
        try:
            for folder in (self.path, *self.parts):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunStoreError(f"cannot make {str(self.path)!r}: {error.strerror}; choose another runs_dir") from error
        with RunLock(self.path).held():
            yield


class EqualFolder(StudyFolder):
    """The folder of one comparison, made under the settings of `fingerprint`."""

    what = "equal-budget comparison"
    summary_name = EQUAL_BUDGET
    elsewhere = "choose another --run-id"

    def __init__(self, path: Path, fingerprint: str) -> None:
        super().__init__(path)
        self.fingerprint = fingerprint

    @property
    def pilots(self) -> Path:
        return self.path / "pilots"

    @property
    def equal(self) -> Path:
        return self.path / "equal"

    @property
    def parts(self) -> Sequence[Path]:
        return self.pilots, self.equal

    def check(self) -> None:
        """Raise `RunStoreError` also where it was made under other settings."""
        super().check()
        place = self.path / EQUAL_BUDGET
        if not place.is_file():
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

    def write(self, summary: Mapping[str, Any], comparison: Mapping[str, Any] | None = None) -> None:
        """Write equal_budget.json and, where given, comparison.json."""
        if comparison is not None:
            replace_json(self.path / COMPARISON, comparison)
        replace_json(self.path / EQUAL_BUDGET, summary)


class SweepFolder(StudyFolder):
    """The folder of one sweep."""

    what = "sweep"
    summary_name = SWEEP
    elsewhere = "choose another run_id in the config, or move it away"

    @property
    def sweep_id(self) -> str:
        return self.path.name

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
