"""The runs of a folder and where each stands, with progress as JSON.

Whether a process is writing a run is found out without touching its lock. Figures in the JSON are unrounded, and beside
each stands the text that a page shows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from arena.errors import RunStoreError, UserError
from arena.files import read_json
from arena.leaderboard.build import read_leaderboard
from arena.leaderboard.schema import MetricSummary
from arena.report.figures import metric_text
from arena.report.names import warning_lines
from arena.store import FINISHED, LEADERBOARD, MANIFEST, RUNNING, RunStore
from arena.store.files import LOCK
from arena.types import sum_known
from experiments.studies.folder import EQUAL_BUDGET, SWEEP
from experiments.views.serve.watch import CellProgress, RunProgress, RunWatch, Status, StudyProgress, cells_of_board

_LOCKS = Path("/proc/locks")
"""Linux: one line a lock, as in `1: FLOCK ADVISORY WRITE 4711 fe:00:131090 0 EOF`; the sixth field ends in an inode."""


def is_written(folder: Path, locks: Path = _LOCKS) -> bool | None:
    """Whether a process holds the folder's lock; None where the system does not say.

    To try the lock would take it for a moment, in which a run that starts would be refused.
    """
    try:
        inode = (folder / LOCK).stat().st_ino
    except OSError:
        return False
    try:
        lines = locks.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return any(_inode(line) == str(inode) for line in lines)


def _inode(line: str) -> str | None:
    fields = line.split()
    if "FLOCK" not in fields[1:2]:  # what waits for a lock has an arrow there
        return None
    return fields[5].rpartition(":")[2] if len(fields) > 5 else None


_STUDIES = {SWEEP: "sweep", EQUAL_BUDGET: "equal budget"}

DAMAGE = (UserError, OSError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What reading a run folder that somebody damaged may come to."""

_BEING_READ = "its journal is being read for the first time; figures follow"


@dataclass(slots=True)
class RunList:
    """All runs in `runs_dir`. What was read is kept until its files change; nothing is ever written."""

    runs_dir: Path
    _watches: dict[str, RunWatch] = field(default_factory=dict)
    _boards: dict[str, tuple[object, RunProgress]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def stores(self) -> dict[str, RunStore]:
        """Place below `runs_dir` -> the folder, of those that hold a manifest and lie here: a link may lead elsewhere.

        What begins with a dot is half made. Runs that a sweep or a comparison at equal budget made lie one or two
        folders deeper.
        """
        if not self.runs_dir.is_dir():
            return {}
        found = [self.runs_dir.glob(f"[!.]*/{MANIFEST}")]
        for folder, _ in self._study_folders():
            found += [folder.glob(f"[!.]*/{MANIFEST}"), folder.glob(f"[!.]*/[!.]*/{MANIFEST}")]
        here = self.runs_dir.resolve()
        folders = (path.parent for paths in found for path in paths)
        named = {self._name(folder): RunStore(folder) for folder in folders if here in folder.resolve().parents}
        return dict(sorted(named.items()))

    def studies(self) -> list[StudyProgress]:
        """Every sweep and every comparison at equal budget, by name, with the runs that it has so far."""
        names = list(self.stores())
        found = ((self._name(folder), kind, _study_status(folder)) for folder, kind in self._study_folders())
        return [
            StudyProgress(name, kind, status, [one for one in names if one.startswith(f"{name}/")])
            for name, kind, status in found
        ]

    def _study_folders(self) -> list[tuple[Path, str]]:
        found = ((path.parent, kind) for name, kind in _STUDIES.items() for path in self.runs_dir.glob(f"[!.]*/{name}"))
        return sorted(found)

    def _name(self, folder: Path) -> str:
        """Bytes of it that are no UTF-8 are written out, so that it can be sent."""
        return os.fsencode(folder.relative_to(self.runs_dir).as_posix()).decode("utf-8", "backslashreplace")

    def find(self, run_id: str) -> RunStore | None:
        """The run of that name; None where `stores` does not have it, whatever path it may spell."""
        return self.stores().get(run_id)

    def at_a_glance(self, store: RunStore) -> RunProgress:
        """Where a run stands as far as that is known at once: of one that is not finished, not its cells."""
        return self._found(store, self._described)

    def progress_of(self, store: RunStore) -> RunProgress:
        """Where a run stands. One that is damaged says why, and is no obstacle to the others.

        The first look at a run that is not finished reads its data and scores it, which may take long.
        """
        return self._found(store, self._open)

    def _found(self, store: RunStore, unfinished: Callable[[RunStore, Mapping[str, Any]], RunProgress]) -> RunProgress:
        started = None
        try:
            manifest = store.manifest()
            started = manifest["started"]
            return (self._finished if manifest["status"] == FINISHED else unfinished)(store, manifest)
        except DAMAGE as error:
            return RunProgress(self._name(store.folder), "damaged", started=started, problem=damage_text(error))

    def _finished(self, store: RunStore, manifest: Mapping[str, Any]) -> RunProgress:
        stamp = (manifest["started"], file_stamp(store.folder / LEADERBOARD))
        name = self._name(store.folder)
        kept = self._boards.get(name)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        try:
            board = read_leaderboard(store)
        except RunStoreError as error:
            return replace(_described(name, manifest, "damaged"), problem=damage_text(error))
        found = replace(
            _described(self._name(store.folder), manifest, "finished"),
            cells=cells_of_board(board),
            warnings=warning_lines(board),
        )
        self._boards[name] = (stamp, found)
        self._watches.pop(name, None)
        return found

    def _described(self, store: RunStore, manifest: Mapping[str, Any]) -> RunProgress:
        """A run that is not finished, before anybody looked at its journal."""
        killed = manifest["status"] == RUNNING and is_written(store.folder) is False
        status: Status = "running" if manifest["status"] == RUNNING and not killed else "stopped"
        found = _described(self._name(store.folder), manifest, status)
        return replace(found, problem=_BEING_READ, reading=True)

    def _open(self, store: RunStore, manifest: Mapping[str, Any]) -> RunProgress:
        with self._lock:
            watch = self._watches.setdefault(self._name(store.folder), RunWatch(store))
        cells = watch.look()
        return replace(self._described(store, manifest), cells=cells, problem=watch.problem, reading=False)


def _study_status(folder: Path) -> str:
    """As its own file says; `damaged` where that cannot be read."""
    for name in _STUDIES:
        if (folder / name).is_file():
            try:
                return str(read_json(folder / name).get("status", FINISHED))
            except (OSError, ValueError, AttributeError):
                return "damaged"
    return "damaged"


def in_order(found: Iterable[RunProgress]) -> list[RunProgress]:
    """The one that was started last first; those whose manifest cannot be read at the end."""
    return sorted(found, key=lambda one: (one.started or "", one.run_id), reverse=True)


def damage_text(error: Exception) -> str:
    """What to say of one of DAMAGE, in text that can be sent."""
    text = str(error) if isinstance(error, UserError) else f"a file is damaged ({type(error).__name__}: {error})"
    return text.encode("utf-8", "backslashreplace").decode()


def file_stamp(path: Path) -> object:
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


def run_json(run: RunProgress) -> dict[str, Any]:
    """All that is known of a run's progress."""
    whole = {name: sum(getattr(cell, name) for cell in run.cells) for name in ("failed", "abstained")}
    return {
        "run_id": run.run_id,
        "status": run.status,
        "dataset": run.dataset,
        "llm": run.llm,
        "started": run.started,
        "problem": run.problem,
        "warnings": list(run.warnings),
        "done": run.done,
        "planned": run.planned,
        **whole,
        **{name: sum_known(getattr(cell, name) for cell in run.cells) for name in ("calls", "tokens")},
        "cells": [_cell_json(cell) for cell in run.cells],
    }


def _cell_json(cell: CellProgress) -> dict[str, Any]:
    figures = {name: _figure_json(summary) for name, summary in cell.figures.items()}
    return asdict(cell) | {"name": cell.name, "fake": cell.fake, "figures": figures}


def _figure_json(summary: MetricSummary) -> dict[str, Any]:
    return summary.model_dump(mode="json") | {"text": metric_text(summary)}
