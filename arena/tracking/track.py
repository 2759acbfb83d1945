"""Copy a finished run, or a sweep, to MLflow, so that doing it again changes nothing.

A sweep becomes a parent and a child for every cell of every point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
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
    cell_figures,
    delete_copies,
    find_copies,
    is_whole,
    parameters,
    run_name,
    runs_of,
    write_runs,
)
from arena.tracking.server import Server, opened
from arena.tracking.source import FinishedRun, finished_run

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


LAYOUT = 3
"""Of what is written. Another layout is another content, so that a sweep is copied anew."""

_AT_ONCE = 100
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


@dataclass(frozen=True, slots=True)
class TrackedSweep:
    """Where a sweep is in MLflow: the parent's id, what was done, and what was mended first."""

    run_id: str
    uri: str
    change: Change
    notes: tuple[str, ...] = ()


def track_sweep(sweep: SweptCells, runs_dir: Path, uri: str | None) -> TrackedSweep:
    """Copy a sweep to MLflow, unless it is there as it is.

    Args:
        sweep: what was swept; at least one cell.
        runs_dir: where the sweep's folder lies.
        uri: an MLflow tracking server or database (None = `mlflow.db` and `mlartifacts` in `runs_dir`).

    Raises:
        TrackingError: the server or database cannot be reached or written.
    """
    with opened(runs_dir, uri) as server:
        found = list(runs_of(server, sweep.key))
        whole = next((one.info.run_id for one in found if is_whole(one, found, sweep.digest, len(sweep.cells))), None)
        stale = [one.info.run_id for one in found if whole not in (one.info.run_id, one.data.tags.get(PARENT_TAG))]
        parent = whole or _write(server, sweep)
        delete_copies(server, stale)
    change: Change = "unchanged" if whole else "replaced" if stale else "written"
    return TrackedSweep(parent, server.place, change, server.notes)


def _write(server: Server, sweep: SweptCells) -> str:
    """The tag that makes a copy whole comes last."""
    dates = sorted(one.date for one in sweep.cells)
    shared = {RUN_TAG: sweep.key, "sweep": sweep.sweep_id}
    own = {"mlflow.runName": sweep.sweep_id, "kind": "sweep", "fingerprint": sweep.fingerprint, "date": dates[-1]}
    parent = _begin(server, shared | own, dates[0])
    for one in sweep.cells:
        beside = [other.cell for other in sweep.cells if other.point == one.point]
        name = run_name(f"{one.point}:", name_of(one.cell, beside))
        said = {PARENT_TAG: parent, "mlflow.runName": name, "kind": "sweep_cell", "date": one.date, "point": one.point}
        child = _begin(server, shared | said | dict(one.tags), one.date)
        _log(server, child, one)
        server.client.set_terminated(child, end_time=_milliseconds(one.date))
    for path in sweep.files:
        server.client.log_artifact(parent, str(path), artifact_path="sweep")
    server.client.set_terminated(parent, end_time=_milliseconds(dates[-1]))
    server.client.set_tag(parent, CONTENT_TAG, sweep.digest)
    return parent


def _begin(server: Server, tags: Mapping[str, str], date: str) -> str:
    created = server.client.create_run(server.experiment_id, start_time=_milliseconds(date), tags=dict(tags))
    return str(created.info.run_id)


def _log(server: Server, run_id: str, one: SweptCell) -> None:
    from mlflow.entities import Metric, Param

    cell = one.cell
    names = {"strategy": cell.strategy, "retrieval_mode": cell.retrieval_mode, "llm": cell.llm, "cell": cell.cell}
    found = parameters(dict(cell.params) | names | dict(one.values))
    params = [Param(name, value) for name, value in found.short.items()]
    figures = cell_figures(cell).items()
    metrics = [
        Metric(name, value, _milliseconds(one.date), 0)
        for name, value in figures
        if one.timed or not name.startswith(_LATENCY)
    ]
    for at in range(0, len(params), _AT_ONCE):
        server.client.log_batch(run_id, params=params[at : at + _AT_ONCE])
    for at in range(0, len(metrics), _AT_ONCE):
        server.client.log_batch(run_id, metrics=metrics[at : at + _AT_ONCE])
    for path, text in found.long.items():
        server.client.log_text(run_id, text, path)


def _milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)
