"""The MLflow server or database a run is copied to: opened, bounded in its patience, held by one writer."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from arena.errors import ConfigError, TrackingError
from arena.network import http_client, redacted
from arena.tracking.database import artifacts_beside, fault_of, file_of, local_uri, make_whole, openable, shown

EXPERIMENT = "rag-strategy-arena"
LOCK = "mlflow.lock"

_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
"""Where database servers listen if the address does not say."""

_LOCK_SECONDS = 300
_ANSWER_SECONDS = 5
_SETTINGS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_ASYNC_TRACE_LOGGING_RETRY_TIMEOUT": "20",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
"""MLflow's own settings, where the user set none: give up in a minute instead of many, and print nothing."""


@dataclass(frozen=True, slots=True)
class Server:
    """An open server.

    `client`: an `MlflowClient`; `uri`: what it was opened with; `place`: what to show of it; `notes`: what was mended.
    """

    client: Any
    uri: str
    place: str
    experiment_id: str
    notes: tuple[str, ...] = ()


@contextmanager
def opened(runs_dir: Path, uri: str | None) -> Iterator[Server]:
    """The server at `uri` (None = the database beside the runs), while no other process copies from `runs_dir` to it.

    Raises:
        TrackingError: it cannot be reached, read or written. Also for what happens inside the `with`.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    problem = fault_of(runs_dir, uri)
    if problem is not None:
        raise TrackingError(problem)
    target = uri or local_uri(runs_dir)
    _must_answer(target)

    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with _quiet(), _alone(runs_dir, target):
            yield _open(target)
    except Timeout as error:
        raise TrackingError(f"another process has held {error.lock_file} for {_LOCK_SECONDS} s") from error
    except (MlflowException, SQLAlchemyError, OSError, ImportError) as error:
        # no cause: what it says may hold a password
        raise TrackingError(f"{shown(target)}: {type(error).__name__}: {shown(str(error))}") from None


def _must_answer(uri: str) -> None:
    """Ask a server for any sign of life: MLflow would wait and try again for long before it called one dead."""
    if uri.startswith(("http://", "https://")):
        _must_reply(uri)
        return
    server = _PORTS.get(uri.partition(":")[0].partition("+")[0])
    if server is None:
        return
    from sqlalchemy.engine import make_url

    url = make_url(uri)
    if url.host is None:
        return
    try:
        socket.create_connection((url.host, url.port or server), timeout=_ANSWER_SECONDS).close()
    except OSError as error:
        raise TrackingError(f"no database server answers at {shown(uri)!r} ({error.strerror or error})") from None


def _must_reply(uri: str) -> None:
    import httpx

    try:
        with http_client(_ANSWER_SECONDS) as client, client.stream("GET", f"{uri.rstrip('/')}/health"):
            return
    except ConfigError as error:
        raise TrackingError(str(error)) from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        reason = redacted(str(error) or type(error).__name__)
        raise TrackingError(f"no MLflow server answers at {shown(uri)!r} ({reason})") from None


def _open(uri: str) -> Server:
    from mlflow import MlflowClient

    database = file_of(uri)
    mended = make_whole(database) if database else None
    notes = (mended,) if mended else ()
    address = openable(uri)
    client = MlflowClient(tracking_uri=address)
    found = client.get_experiment_by_name(EXPERIMENT)
    if found is None:
        artifacts = artifacts_beside(database) if database else None  # elsewhere the server decides
        made = client.create_experiment(EXPERIMENT, artifact_location=artifacts)
        return Server(client, address, shown(uri), str(made), notes)
    if found.name != EXPERIMENT:  # MLflow's client reads whatever JSON comes as an experiment without a name
        raise TrackingError(
            f"what answers at {shown(uri)!r} is no MLflow server: let MLFLOW_TRACKING_URI name one, or unset it"
        )
    if found.lifecycle_stage != "active":
        raise TrackingError(
            f"experiment {EXPERIMENT!r} was deleted at {shown(uri)!r}: bring it back with "
            f"mlflow experiments restore --experiment-id {found.experiment_id}"
        )
    return Server(client, address, shown(uri), str(found.experiment_id), notes)


@contextmanager
def _alone(runs_dir: Path, uri: str) -> Iterator[None]:
    """One copy at a time of the runs in a folder, and into a SQLite database, which the first writer makes."""
    database = file_of(uri)
    folders = {runs_dir.resolve(), database.parent if database else runs_dir.resolve()}
    with ExitStack() as held:
        # In one order everywhere, so that two processes never wait for each other.
        for folder in sorted(folders):
            held.enter_context(FileLock(folder / LOCK, timeout=_LOCK_SECONDS))
        yield


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep MLflow's and Alembic's progress off the terminal."""
    loggers = [logging.getLogger(name) for name in ("mlflow", "alembic")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
