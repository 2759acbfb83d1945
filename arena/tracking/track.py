"""Copying a finished run to MLflow, so that doing it again changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from arena.store import RunStore
from arena.tracking.copies import delete_copies, find_copies
from arena.tracking.finished import FinishedRun, finished_run
from arena.tracking.runs import write_runs
from arena.tracking.server import Server, opened

Change = Literal["written", "replaced", "unchanged"]


@dataclass(frozen=True, slots=True)
class Tracked:
    """Where a run is in MLflow. `run_id`: of the parent; `traces`: written now.

    `notes`: what was left out or mended, and why. `change`: `replaced` when an earlier copy
    was half written or of another content, and is now deleted.
    """

    run_id: str
    experiment_id: str
    uri: str
    cells: int
    change: Change
    traces: int = 0
    notes: tuple[str, ...] = ()


def track(store: RunStore, uri: str | None, *, traces: int) -> Tracked:
    """Copy a finished run to MLflow, unless it is there as it is.

    Args:
        store: the run folder, all its files written.
        uri: an MLflow tracking server or database (None = `mlflow.db` and `mlartifacts` beside the run folders).
        traces: questions per cell that become traces: failed ones first, then wrong ones, then the rest.

    Raises:
        RunStoreError: the run is not finished, is being written, or a file of it cannot be read.
        TrackingError: the server or database cannot be reached or written; the run folder was not touched.
    """
    with store.holding():
        run = finished_run(store, traces)
        with opened(store.folder.parent, uri) as server:
            return _copy(server, run)


def _copy(server: Server, run: FinishedRun) -> Tracked:
    """The copy first, then what it stands in for."""
    copies = find_copies(server, run)
    if copies.whole is not None:
        delete_copies(server, copies.stale)
        return Tracked(
            copies.whole, server.experiment_id, server.place, len(run.board.cells), "unchanged", 0, server.notes
        )
    written = write_runs(server, run)
    delete_copies(server, copies.stale)
    return Tracked(
        run_id=written.parent_id,
        experiment_id=server.experiment_id,
        uri=server.place,
        cells=len(run.board.cells),
        change="replaced" if copies.stale else "written",
        traces=written.traces,
        notes=(*server.notes, *written.notes),
    )
