"""The MLflow server or database a run is copied to: opened, bounded in its patience, held by one writer."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import urlopen

from filelock import FileLock, Timeout

from arena.errors import TrackingError

EXPERIMENT = "rag-strategy-arena"
DATABASE, LOCK = "mlflow.db", "mlflow.lock"

_SQLITE = "sqlite:///"
_LOCK_SECONDS = 300
_ANSWER_SECONDS = 5
_SETTINGS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_ASYNC_TRACE_LOGGING_RETRY_TIMEOUT": "20",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
"""MLflow's own settings, where the user set none: give up in a minute instead of many, print and report nothing."""


@dataclass(frozen=True, slots=True)
class Server:
    """An open server. `client` is an `MlflowClient`; `uri` is what it was opened with."""

    client: Any
    uri: str
    experiment_id: str


def local_uri(runs_dir: Path) -> str:
    """The SQLite database beside the runs."""
    return f"{_SQLITE}{(runs_dir / DATABASE).resolve()}"


def shown(uri: str) -> str:
    """`uri` without the user name and password that it may hold."""
    parts = urlsplit(uri)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) if parts.netloc else uri


@contextmanager
def opened(runs_dir: Path, uri: str | None) -> Iterator[Server]:
    """The server at `uri` (None = the database beside the runs), while no other process copies from `runs_dir` to it.

    Raises:
        TrackingError: it cannot be reached, read or written. Also for what happens inside the `with`.
    """
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    target = uri or local_uri(runs_dir)
    _must_answer(target)

    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with _quiet(), _alone(runs_dir, target):
            yield _open(target)
    except Timeout as error:
        raise TrackingError(f"another process has held {error.lock_file} for {_LOCK_SECONDS} s") from error
    except (MlflowException, SQLAlchemyError, OSError) as error:
        raise TrackingError(f"{shown(target)}: {type(error).__name__}: {error}") from error


def _must_answer(uri: str) -> None:
    """Ask an HTTP server for any reply at all: MLflow would wait and try again for long before it called one dead."""
    if not uri.startswith(("http://", "https://")):
        return
    try:
        urlopen(f"{shown(uri).rstrip('/')}/health", timeout=_ANSWER_SECONDS).close()  # it takes no password in a URL
    except HTTPError:
        return
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        raise TrackingError(f"no MLflow server answers at {shown(uri)!r} ({reason})") from error


def _open(uri: str) -> Server:
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=uri)
    found = client.get_experiment_by_name(EXPERIMENT)
    if found is None:
        return Server(client, uri, str(client.create_experiment(EXPERIMENT, artifact_location=_artifacts(uri))))
    if found.lifecycle_stage != "active":
        raise TrackingError(
            f"experiment {EXPERIMENT!r} was deleted at {shown(uri)!r}: bring it back with "
            f"mlflow experiments restore --experiment-id {found.experiment_id}"
        )
    return Server(client, uri, str(found.experiment_id))


def _artifacts(uri: str) -> str | None:
    """Where artifacts go: beside a SQLite database; elsewhere the server decides."""
    database = _database(uri)
    return (database.parent / "mlartifacts").as_uri() if database else None


def _database(uri: str) -> Path | None:
    return Path(uri.removeprefix(_SQLITE)).resolve() if uri.startswith(_SQLITE) else None


@contextmanager
def _alone(runs_dir: Path, uri: str) -> Iterator[None]:
    """One copy at a time of the runs in a folder, and into a SQLite database.

    The first writer of a database makes its tables: two at once would break them for good.
    """
    database = _database(uri)
    folders = {runs_dir.resolve(), database.parent if database else runs_dir.resolve()}
    with ExitStack() as held:
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
