"""`arena track`: a finished run copied to MLflow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arena.errors import TrackingError, UserError
from experiments.cli_groups import MovedData
from experiments.terminal.tables import put


def track(
    run_folder: Annotated[Path, typer.Argument(help="A finished run, as in runs/RUN_ID.")],
    traces: Annotated[
        int | None,
        typer.Option(min=0, help="Questions per cell that become traces, failures first; default: the run's setting."),
    ] = None,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Copy a finished run to MLflow: a parent run, a run for every cell, and traces of some questions.

    Goes to MLFLOW_TRACKING_URI, else to mlflow.db beside the run folders. A run that is there as it is stays as it is;
    one that has changed since is replaced.
    """
    from arena import tracking
    from arena.config import tracking_uri, validate_config
    from arena.store import RunStore
    from experiments.terminal.tables import as_json

    store = RunStore.open(run_folder, dataset)
    if traces is None:
        traces = validate_config(store.manifest()["config"], f"run {store.run_id!r}").traces
    try:
        tracked = tracking.track(store, tracking_uri(), traces=traces)
    except TrackingError as error:
        raise UserError(
            f"run {store.run_id!r} is not in MLflow: {error}; the run folder has everything, so try again at any time"
        ) from error
    if json:
        put(as_json(tracked))
        return
    put(f"{tracked.change}: MLflow run {tracked.run_id}, {tracked.cells} cells, at {tracked.uri}")
    if tracked.change != "unchanged":
        put(f"{tracked.traces} traces")
    for note in tracked.notes:
        put(note)
