"""The runs of a folder: which there are, and where each stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import ValidationError

from arena.errors import UserError
from arena.report.leaderboard import Leaderboard
from arena.report.titles import warning_lines
from arena.store import FINISHED, LEADERBOARD, MANIFEST, RUNNING, RunStore
from experiments.equalizing.folder import EQUAL_BUDGET
from experiments.serving.holder import is_written
from experiments.serving.progress import RunProgress, Status, StudyProgress, cells_of_board
from experiments.serving.watch import RunWatch
from experiments.sweeping.folder import SWEEP

_STUDIES = {SWEEP: "sweep", EQUAL_BUDGET: "equal budget"}


@dataclass(slots=True)
class Shelf:
    """All runs in `runs_dir`. What was read is kept until its files change; nothing is ever written."""

    runs_dir: Path
    _watches: dict[str, RunWatch] = field(default_factory=dict)
    _boards: dict[str, tuple[object, RunProgress]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def names(self) -> list[str]:
        """The folders that hold a manifest, by their place below `runs_dir`; those that begin with a dot are half made.

        Runs that a sweep or a comparison at equal budget made lie one or two folders deeper.
        """
        if not self.runs_dir.is_dir():
            return []
        found = [self.runs_dir.glob(f"[!.]*/{MANIFEST}")]
        for folder, _ in self._study_folders():
            found += [folder.glob(f"[!.]*/{MANIFEST}"), folder.glob(f"[!.]*/[!.]*/{MANIFEST}")]
        return sorted(self._name(path.parent) for paths in found for path in paths)

    def studies(self) -> list[StudyProgress]:
        """Every sweep and every comparison at equal budget, by name, with the runs that it has so far."""
        names = self.names()
        return [
            StudyProgress(
                folder.name, kind, _study_status(folder), [one for one in names if one.startswith(f"{folder.name}/")]
            )
            for folder, kind in self._study_folders()
        ]

    def _study_folders(self) -> list[tuple[Path, str]]:
        found = ((path.parent, kind) for name, kind in _STUDIES.items() for path in self.runs_dir.glob(f"[!.]*/{name}"))
        return sorted(found)

    def _name(self, folder: Path) -> str:
        return folder.relative_to(self.runs_dir).as_posix()

    def find(self, run_id: str) -> RunStore | None:
        """The run of that name; None where `names` does not have it, whatever path it may spell."""
        return RunStore(self.runs_dir / run_id) if run_id in self.names() else None

    def progress(self) -> list[RunProgress]:
        """Every run, the one that was started last first; those whose manifest cannot be read at the end."""
        found = [self.progress_of(RunStore(self.runs_dir / name)) for name in self.names()]
        return sorted(found, key=lambda one: (one.started or "", one.run_id), reverse=True)

    def progress_of(self, store: RunStore) -> RunProgress:
        """Where a run stands. One that is damaged says why, and is no obstacle to the others."""
        started = None
        try:
            manifest = store.manifest()
            started = manifest["started"]
            return self._finished(store, manifest) if manifest["status"] == FINISHED else self._open(store, manifest)
        except UserError as error:
            return RunProgress(self._name(store.folder), "damaged", started=started, problem=str(error))

    def _finished(self, store: RunStore, manifest: Mapping[str, Any]) -> RunProgress:
        stamp = (manifest["started"], _stamp(store.folder / LEADERBOARD))
        name = self._name(store.folder)
        kept = self._boards.get(name)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        try:
            board = Leaderboard.model_validate_json(store.leaderboard_json())
        except ValidationError:
            problem = f"{LEADERBOARD} is damaged, or of another version"
            return replace(_described(self._name(store.folder), manifest, "damaged"), problem=problem)
        found = replace(
            _described(self._name(store.folder), manifest, "finished"),
            cells=cells_of_board(board),
            warnings=warning_lines(board),
        )
        self._boards[name] = (stamp, found)
        self._watches.pop(name, None)
        return found

    def _open(self, store: RunStore, manifest: Mapping[str, Any]) -> RunProgress:
        killed = manifest["status"] == RUNNING and is_written(store.folder) is False
        status: Status = "running" if manifest["status"] == RUNNING and not killed else "stopped"
        with self._lock:
            watch = self._watches.setdefault(self._name(store.folder), RunWatch(store))
        cells = watch.look()
        return replace(_described(self._name(store.folder), manifest, status), cells=cells, problem=watch.problem)


def _study_status(folder: Path) -> str:
    """As its own file says; `damaged` where that cannot be read."""
    for name in _STUDIES:
        if (folder / name).is_file():
            try:
                return str(json.loads((folder / name).read_bytes()).get("status", FINISHED))
            except (OSError, ValueError, AttributeError):
                return "damaged"
    return "damaged"


def _stamp(path: Path) -> object:
    """What changes with the file; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def _described(name: str, manifest: Mapping[str, Any], status: Status) -> RunProgress:
    llm = manifest["config"].get("llm")
    return RunProgress(
        name,
        status,
        dataset=str(manifest["config"].get("dataset", "")) or None,
        llm=str(llm["model"]) if isinstance(llm, dict) and "model" in llm else None,
        started=manifest["started"],
    )
