"""The folder of an equal-budget comparison.

RUNS_DIR/EQ_ID/
    equal_budget.json   target, settings found, the trace of the search, what was achieved
    comparison.json     the runs at equal budget as one leaderboard, derived
    pilots/             a run folder per look of the search, on the part dev
    default/            the run of the config as it is, on the questions of the comparison
    equal/              a run folder per contestant at equal budget, and one of the controls
    run.lock            held by the one process that works on it
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.errors import RunStoreError
from arena.files import read_json
from arena.store import LOCK
from arena.store.files import RunLock, replace_json

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
