"""The folders of the two studies that make many runs.

Of an equal-budget comparison:

RUNS_DIR/EQ_ID/
    equal_budget.json   target, settings found, the trace of the search, what was achieved
    comparison.json     the runs at equal budget as one leaderboard, derived
    pilots/             a run folder per look of the search, on the part dev
    default/            the run of the config as it is, on the questions of the comparison
    equal/              a run folder per contestant at equal budget, and one of the controls
    run.lock            held by the one process that works on it

Of a sweep:

RUNS_DIR/SWEEP_ID/
    sweep.json      design, points, what was reused, the curves' elbows; written before the first point, and after
    sweep.csv       a row per point and cell, derived
    curves.svg      the curves, derived
    POINT/          a run folder, one for every point; every command for runs works on it
    run.lock        held by the one process that sweeps
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from arena.errors import RunStoreError
from arena.files import read_json
from arena.store import MANIFEST, RunStore
from arena.store.files import LOCK, RunLock, replace_json, replace_text

EQUAL_BUDGET, COMPARISON = "equal_budget.json", "comparison.json"
SWEEP, TABLE, PICTURE = "sweep.json", "sweep.csv", "curves.svg"

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def run_folder_name(text: str, most_chars: int, told_apart_by: str) -> str:
    """`text` where it may name a folder, else what is left of it with `told_apart_by`, which no other text has."""
    safe = _UNSAFE.sub("-", text)[:most_chars].strip("-.")
    return safe if safe == text else f"{safe[: most_chars - len(told_apart_by) - 1]}-{told_apart_by}"


def named_after(config_name: str, otherwise: str) -> str:
    """The start of a study's own name: that of its config file, as far as it may name a folder."""
    return "".join(one if one.isalnum() and one.isascii() else "-" for one in config_name).strip("-")[:60] or otherwise


class StudyFolder:
    """A folder of runs. It is made by `holding`, and may not be there before."""

    summary: ClassVar[str]
    """The file that says what the folder is."""
    called: ClassVar[str]
    instead: ClassVar[str]
    """What to do where the folder holds something else."""
    inside: ClassVar[tuple[str, ...]] = ()

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self) -> None:
        """Raise `RunStoreError` where the folder is there and holds something else."""
        if not self.path.exists() or (self.path / self.summary).is_file():
            return
        # The lock is the first file of a study that was killed before it wrote anything.
        if not self.path.is_dir() or any(entry.name != LOCK for entry in self.path.iterdir()):
            raise RunStoreError(f"{str(self.path)!r} exists and is no {self.called}: {self.instead}")

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Make the folder and hold it; a second process is refused.

        Raises:
            RunStoreError: it cannot be made, or holds something else.
        """
        self.check()
        try:
            for folder in (self.path, *(self.path / name for name in self.inside)):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunStoreError(f"cannot make {str(self.path)!r}: {error.strerror}; choose another runs_dir") from error
        with RunLock(self.path).held():
            yield

    def write(self, summary: Mapping[str, Any], derived: Mapping[str, str] | None = None) -> None:
        """Write the files that are `derived`, name -> text, and then the one that says what the folder is."""
        for name, text in (derived or {}).items():
            replace_text(self.path / name, text)
        replace_json(self.path / self.summary, summary)


class EqualFolder(StudyFolder):
    """The folder of an equal-budget comparison, made under the settings of one fingerprint."""

    summary, called = EQUAL_BUDGET, "equal-budget comparison"
    instead = "choose another --run-id"
    inside = ("pilots", "equal")

    def __init__(self, path: Path, fingerprint: str) -> None:
        super().__init__(path)
        self.fingerprint = fingerprint
        self.pilots, self.equal = (path / name for name in self.inside)

    def check(self) -> None:
        """Refuse a folder that holds something else, or a comparison with other settings."""
        super().check()
        place = self.path / EQUAL_BUDGET
        if not place.is_file():
            return
        try:
            made = read_json(place).get("fingerprint")
        except (OSError, ValueError, AttributeError) as error:
            raise RunStoreError(f"{str(place)!r} cannot be read: {error}; {self.instead}") from error
        if made != self.fingerprint:
            raise RunStoreError(
                f"{str(self.path)!r} was made under other settings ({made}, and these are {self.fingerprint}): restore "
                f"them, or {self.instead}"
            )


class SweepFolder(StudyFolder):
    """The folder of one sweep."""

    summary, called = SWEEP, "sweep"
    instead = "choose another run_id in the config, or move it away"

    def store(self, point: str) -> RunStore:
        """The run folder of a point, which may not be there yet."""
        return RunStore(self.path / point)

    def has(self, point: str) -> bool:
        """Whether the run of a point was begun."""
        return (self.path / point / MANIFEST).is_file()
