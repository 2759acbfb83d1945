"""A finished run as MLflow runs: one parent, one child per cell. A sink: losing the server loses nothing.

Everything is read from the run folder's files and written once, by one writer, after the run. Parameters are
short (MLflow limits them), metrics aggregated; per-question scores and the whole run folder are artifacts.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from arena.errors import TrackingError
from arena.report.leaderboard import CellSummary, Leaderboard
from arena.store import LOCK, RunStore

EXPERIMENT = "rag-strategy-arena"
DATABASE = "mlflow.db"
_PARAM_CHARS = 250
_LOCK_SECONDS = 300


def track(store: RunStore, board: Leaderboard, uri: str | None) -> str:
    """Log a finished run and return the parent's MLflow run id.

    Args:
        store: the run folder, all its files written.
        board: its leaderboard.
        uri: an MLflow tracking server (None = `mlflow.db` and `mlartifacts` beside the run folders).

    Raises:
        TrackingError: the server or database cannot be reached or written.
    """
    import mlflow
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        # SQLite has one writer, and the tables are made by the first: two processes would break them for good.
        with _quiet(), _alone(None if uri else store.folder.parent):
            client = mlflow.MlflowClient(tracking_uri=uri or local_uri(store.folder.parent))
            experiment = _experiment(client, store.folder.parent, uri)
            return _log_run(client, experiment, store, board)
    except (MlflowException, SQLAlchemyError, OSError, Timeout) as error:
        raise TrackingError(f"{type(error).__name__}: {error}") from error


def local_uri(runs_dir: Path) -> str:
    """The SQLite store beside the runs."""
    return f"sqlite:///{(runs_dir / DATABASE).resolve()}"


def _experiment(client: Any, runs_dir: Path, uri: str | None) -> str:
    found = client.get_experiment_by_name(EXPERIMENT)
    if found is not None:
        return str(found.experiment_id)
    artifacts = None if uri else (runs_dir / "mlartifacts").resolve().as_uri()
    return str(client.create_experiment(EXPERIMENT, artifact_location=artifacts))


def _log_run(client: Any, experiment: str, store: RunStore, board: Leaderboard) -> str:
    tags = {"mlflow.runName": board.run_id, "fingerprint": board.fingerprint, "dataset": board.dataset.name}
    parent = client.create_run(experiment, tags=tags).info.run_id
    manifest = store.manifest()
    client.log_batch(parent, params=_params(manifest.get("config", {})))
    for file in sorted(store.folder.iterdir()):
        if file.is_file() and file.name != LOCK:
            client.log_artifact(parent, str(file), artifact_path="run")
    for cell in board.cells:
        child = client.create_run(experiment, tags=_cell_tags(cell, parent, board)).info.run_id
        client.log_batch(child, metrics=_metrics(cell), params=_params(_cell_params(cell)))
        client.set_terminated(child)
    client.set_terminated(parent)
    return str(parent)


def _cell_tags(cell: CellSummary, parent: str, board: Leaderboard) -> dict[str, str]:
    return {
        "mlflow.runName": f"{cell.strategy} {cell.retrieval_mode}",
        "mlflow.parentRunId": parent,
        "strategy": cell.strategy,
        "retrieval_mode": cell.retrieval_mode,
        "llm": cell.llm or "none",
        "dataset": board.dataset.name,
        "fingerprint": board.fingerprint,
    }


def _cell_params(cell: CellSummary) -> dict[str, Any]:
    return {
        "strategy": cell.strategy,
        "retrieval_mode": cell.retrieval_mode,
        "llm": cell.llm,
        "fidelity_tier": cell.fidelity_tier,
        "cell": cell.cell,
        **cell.params,
    }


def _params(values: dict[str, Any], prefix: str = "") -> list[Any]:
    """Flat, short parameters; a value too long for MLflow is cut (the manifest artifact has it whole)."""
    from mlflow.entities import Param

    params = []
    for key, value in values.items():
        if isinstance(value, dict):
            params += _params(value, f"{prefix}{key}.")
        elif value is not None:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            params.append(Param(f"{prefix}{key}", text[:_PARAM_CHARS]))
    return params


def _metrics(cell: CellSummary) -> list[Any]:
    from mlflow.entities import Metric

    now = int(time.time() * 1000)
    return [Metric(name, value, now, 0) for name, value in _values(cell)]


def _values(cell: CellSummary) -> Iterator[tuple[str, float]]:
    """Every known figure of a cell under its MLflow name; unknown ones are left out, not logged as 0."""
    named: dict[str, float | None] = {
        "n_questions": cell.n_questions,
        "n_answered": cell.n_answered,
        "n_abstained": cell.n_abstained,
        "n_failed": cell.n_failed,
        "n_truncated": cell.n_truncated,
        "latency_seconds_mean": cell.latency_seconds.mean,
        "latency_seconds_p50": cell.latency_seconds.p50,
        "latency_seconds_p95": cell.latency_seconds.p95,
        "input_tokens_per_question": cell.tokens_per_question.input,
        "output_tokens_per_question": cell.tokens_per_question.output,
        "llm_calls_per_question": cell.llm_calls_per_question,
        "retrievals_per_question": cell.retrievals_per_question,
        "cost_usd_per_question": cell.cost_usd_per_question,
    }
    for name, summary in cell.metrics.items():
        named |= {
            name: summary.mean,
            f"{name}_ci_low": summary.ci_low,
            f"{name}_ci_high": summary.ci_high,
            f"{name}_coverage": summary.coverage,
            f"{name}_lower_bound": summary.lower_bound,
            f"{name}_upper_bound": summary.upper_bound,
        }
    yield from ((name, float(value)) for name, value in named.items() if value is not None)


@contextmanager
def _alone(runs_dir: Path | None) -> Iterator[None]:
    """Wait for other processes that write the local store (None: a server, which does that itself)."""
    if runs_dir is None:
        yield
        return
    with FileLock(runs_dir / "mlflow.lock", timeout=_LOCK_SECONDS):
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep MLflow's and Alembic's progress off the terminal, and its usage reports off the network."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
