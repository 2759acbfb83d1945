"""Copy a finished run, or a sweep, to MLflow, so that doing it again changes nothing.

A sweep becomes a parent and a child for every cell of every point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from arena.config import fingerprint
from arena.leaderboard.build import CellSummary
from arena.report.names import name_of
from arena.store import RunStore
from arena.tracking.runs import (
    CONTENT_TAG,
    PARENT_TAG,
    RUN_TAG,
    Written,
    cell_figures,
    delete_copies,
    find_copies,
    log_figures,
    new_run,
    run_name,
    write_runs,
)
from arena.tracking.server import Server, opened
from arena.tracking.source import LAYOUT, finished_run, unix_ms

Change = Literal["written", "replaced", "unchanged"]


@dataclass(frozen=True, slots=True)
class Tracked:
    """Where a run, or a sweep, is in MLflow. `run_id`: of the parent; `traces`: written now.

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
            return _copied(server, run.key, run.digest, len(run.board.cells), lambda: write_runs(server, run))


def _copied(server: Server, key: str, digest: str, cells: int, write: Callable[[], Written]) -> Tracked:
    """The copy first, then what it stands in for is deleted."""
    copies = find_copies(server, key, digest, cells)
    written = Written(copies.whole) if copies.whole is not None else write()
    delete_copies(server, copies.stale)
    return Tracked(
        run_id=written.parent_id,
        experiment_id=server.experiment_id,
        uri=server.place,
        cells=cells,
        change="unchanged" if copies.whole is not None else "replaced" if copies.stale else "written",
        traces=written.traces,
        notes=(*server.notes, *written.notes),
    )


_LATENCY = ("latency_seconds/", "serial_latency_seconds/", "warm_up_seconds", "n_warm_up")


@dataclass(frozen=True, slots=True)
class SweptCell:
    """A cell at a point. `values`: factor -> its value; `timed`: whether its latency is its own.

    `date`: when its run was finished, ISO 8601. `tags`: versions and whatever else is to be found it by.
    """

    point: str
    cell: CellSummary
    values: Mapping[str, Any]
    date: str
    timed: bool
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SweptCells:
    """A whole sweep. `fingerprint`: of its config; `files`: what the parent gets as artifacts."""

    sweep_id: str
    fingerprint: str
    cells: Sequence[SweptCell]
    files: Sequence[Path]

    @property
    def key(self) -> str:
        """What finds the copies of this sweep again."""
        return fingerprint("sweep_copy", {"sweep_id": self.sweep_id, "fingerprint": self.fingerprint})

    @property
    def digest(self) -> str:
        """Changes with anything that is written."""
        cells = [
            [one.point, one.cell.model_dump(mode="json"), dict(one.values), one.date, one.timed, dict(one.tags)]
            for one in self.cells
        ]
        return fingerprint("content", {"layout": LAYOUT, "cells": cells})


def track_sweep(sweep: SweptCells, runs_dir: Path, uri: str | None) -> Tracked:
    """Copy a sweep to MLflow, unless it is there as it is.

    Args:
        sweep: what was swept; at least one cell.
        runs_dir: where the sweep's folder lies.
        uri: an MLflow tracking server or database (None = `mlflow.db` and `mlartifacts` in `runs_dir`).

    Raises:
        TrackingError: the server or database cannot be reached or written.
    """
    with opened(runs_dir, uri) as server:
        return _copied(server, sweep.key, sweep.digest, len(sweep.cells), lambda: _write(server, sweep))


def _write(server: Server, sweep: SweptCells) -> Written:
    """The tag that makes a copy whole comes last."""
    dates = sorted(one.date for one in sweep.cells)
    shared = {RUN_TAG: sweep.key, "sweep": sweep.sweep_id}
    own = {"mlflow.runName": sweep.sweep_id, "kind": "sweep", "fingerprint": sweep.fingerprint, "date": dates[-1]}
    parent = new_run(server, shared | own, unix_ms(dates[0]))
    for one in sweep.cells:
        beside = [other.cell for other in sweep.cells if other.point == one.point]
        name = run_name(f"{one.point}:", name_of(one.cell, beside))
        said = {PARENT_TAG: parent, "mlflow.runName": name, "kind": "sweep_cell", "date": one.date, "point": one.point}
        child = new_run(server, shared | said | dict(one.tags), unix_ms(one.date))
        _log(server, child, one)
        server.client.set_terminated(child, end_time=unix_ms(one.date))
    for path in sweep.files:
        server.client.log_artifact(parent, str(path), artifact_path="sweep")
    server.client.set_terminated(parent, end_time=unix_ms(dates[-1]))
    server.client.set_tag(parent, CONTENT_TAG, sweep.digest)
    return Written(parent)


def _log(server: Server, run_id: str, one: SweptCell) -> None:
    cell = one.cell
    names = {"strategy": cell.strategy, "retrieval_mode": cell.retrieval_mode, "llm": cell.llm, "cell": cell.cell}
    settings = dict(cell.params) | names | dict(one.values)
    timed = {name: value for name, value in cell_figures(cell).items() if one.timed or not name.startswith(_LATENCY)}
    log_figures(server.client, run_id, settings, timed, unix_ms(one.date))
