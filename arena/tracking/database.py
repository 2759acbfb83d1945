"""Where runs are copied to: addresses that can be opened, and a SQLite database that is there whole or not at all."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing, suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from arena.errors import ConfigError, TrackingError
from arena.files import replacing
from arena.network import check_network_environment

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

DATABASE = "mlflow.db"
HALF_MADE = "half-made"
"""Suffix of a database that was set aside because its making had been cut short."""

_HEADER = b"SQLite format 3\x00"
_DATABASES = ("sqlite", "postgresql", "mysql", "mssql")
_OTHERS = ("", "file", "http", "https", "databricks", "databricks-uc", "uc")
_PLUGINS = "mlflow.tracking_store"
_MADE_WITH_THE_TABLES = {"alembic_version", "workspaces"}
"""Tables that have rows before anybody used a database of MLflow's. `experiments` gets its first when all are made."""

_USER_INFO = re.compile(r"(?<=://)[^:/@\s]*(?::[^@\s]*)?@")
_SECRET = re.compile(r"([?&][^=&\s]*(?:pass|pwd|secret|token|key)[^=&\s]*=)[^&\s]*", re.IGNORECASE)


def local_uri(runs_dir: Path) -> str:
    """The SQLite database beside the runs, as MLflow's own commands take it."""
    return _url(runs_dir / DATABASE, "sqlite")


def shown(text: str) -> str:
    """A URI, or a message with URIs in it, without the names, passwords and keys that they hold."""
    return _SECRET.sub(r"\1***", _USER_INFO.sub("", text))


def check_store(runs_dir: Path, uri: str | None) -> None:
    """Find out before a run what would keep it from being copied after it. Asks no server, writes nothing.

    Args:
        runs_dir: where the run folders are.
        uri: an MLflow tracking server or database (None = the database beside the runs).

    Raises:
        ConfigError: the network's variables are unusable, the address is none, it names a kind of store or a driver
            that is not there, or a database that is none.
    """
    problem = fault_of(runs_dir, uri)
    if problem is None and uri is not None and uri.startswith(("http://", "https://")):
        check_network_environment()
    if problem is not None:
        way_out = "set MLFLOW_TRACKING_URI to another" if uri else "move it"
        raise ConfigError(f"runs cannot be copied to MLflow: {problem}; {way_out}, or leave the copy out: --no-mlflow")


def fault_of(runs_dir: Path, uri: str | None) -> str | None:
    """Why the store at `uri` can never be opened, without credentials; None: nothing speaks against it."""
    if uri is None:
        return _no_database(runs_dir / DATABASE)
    scheme = uri.partition(":")[0].partition("+")[0] if ":" in uri else ""
    if uri in _OTHERS or scheme in ("file", *_OTHERS):
        return _no_address(uri) if scheme in ("http", "https") else None
    if scheme in _DATABASES:
        return _no_url(uri)
    if scheme in {plugin.name for plugin in entry_points(group=_PLUGINS)}:
        return None
    return f"{shown(uri)!r} is of no kind of store that MLflow knows (http, https, {', '.join(_DATABASES)})"


def file_of(uri: str) -> Path | None:
    """The file of a SQLite database; None of every other store."""
    if not uri.startswith("sqlite"):
        return None
    from sqlalchemy.engine import make_url

    name = make_url(uri).database
    return Path(name).resolve() if name and name != ":memory:" else None


def openable(uri: str) -> str:
    """`uri` as MLflow is to get it.

    With the driver's name: of a plain `sqlite:///` MLflow makes the folder, spelt as in the URL (`%C3%A9` for é).
    """
    database = file_of(uri)
    return _url(database, "sqlite+pysqlite") if database else uri


def make_whole(database: Path) -> str | None:
    """Have a SQLite database with all of MLflow's tables; what was done to an old one (None: nothing).

    A new one is made beside its place and moved there when it is whole. One whose making was cut short holds nothing:
    it is set aside, and a new one made. Whoever calls holds the folder's lock.

    Raises:
        TrackingError: there is something else in its place.
        OSError, SQLAlchemyError: it cannot be made.
    """
    problem = _no_database(database)
    if problem is not None:
        raise TrackingError(f"{problem}; move it, or set MLFLOW_TRACKING_URI to another")
    if not database.exists() or database.stat().st_size == 0:
        _make(database)
        return None
    if not _is_half_made(database):
        return None
    aside = _aside(database)
    database.replace(aside)
    _make(database)
    return f"{database} was left half made by a stop, and held nothing: it is now {aside.name}, and a new one is made"


def _url(database: Path, driver: str) -> str:
    from sqlalchemy.engine import URL, make_url

    path = str(database.resolve())
    url = URL.create(driver, database=path).render_as_string(hide_password=False)
    if make_url(url).database != path:  # SQLAlchemy before 2.1 has no way to write some characters
        raise TrackingError(f"the folder's name does not go into a database's URL: {str(database.parent)!r}; rename it")
    return url


def _no_address(uri: str) -> str | None:
    try:
        parts = urlsplit(uri)
        wrong = not parts.hostname or parts.port == 0
    except ValueError:
        wrong = True
    return f"{shown(uri)!r} is no address: write http://HOST:PORT, the port from 1 to 65535" if wrong else None


def _no_url(uri: str) -> str | None:
    """What is wrong with the URL of a database."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(uri)
    except (ArgumentError, ValueError):
        url = None
    if url is None or not 0 < (1 if url.port is None else url.port) < 65536:
        return f"{shown(uri)!r} is no address of a database: write {uri.partition(':')[0]}://USER@HOST:PORT/NAME"
    missing = _no_driver(url)
    if missing is not None:
        return f"{shown(uri)!r}: {missing}"
    database = file_of(uri)
    return _no_database(database) if database else None


def _no_driver(url: URL) -> str | None:
    from sqlalchemy.exc import ArgumentError

    try:
        url.get_dialect().import_dbapi()
    except ModuleNotFoundError as error:
        return f"its driver is not installed ({error}): pip install {error.name}"
    except (ArgumentError, ImportError) as error:
        return shown(f"its driver cannot be used ({error})")
    return None


def _no_database(database: Path) -> str | None:
    """Why what lies there is no SQLite database and no place for one; None: it may be."""
    try:
        if database.is_dir():
            return f"{str(database)!r} is a folder, and no place for a database"
        if not database.exists():
            return None
        if not database.is_file():
            return f"{str(database)!r} is no file"
        with database.open("rb") as file:
            start = file.read(len(_HEADER))
    except OSError as error:
        return f"{str(database)!r} cannot be read: {error.strerror}"
    return None if start in (b"", _HEADER) else f"{str(database)!r} is no SQLite database"


def _is_half_made(database: Path) -> bool:
    """Whether it was given up before its first use: some of the tables, and nothing of anybody's in them.

    Raises:
        TrackingError: it is damaged, or the database of another program.
    """
    try:
        with closing(sqlite3.connect(database)) as opened:
            names = [name for (name,) in opened.execute("select name from sqlite_master where type = 'table'")]
            used = {name for name in names if opened.execute(f'select 1 from "{name}" limit 1').fetchone()}
    except sqlite3.DatabaseError as error:
        raise TrackingError(
            f"the database {str(database)!r} cannot be read: {error}; move it, or restore it"
        ) from error
    if "experiments" in used:
        return False
    if used <= _MADE_WITH_THE_TABLES:
        return True
    raise TrackingError(f"{str(database)!r} is the database of another program: set MLFLOW_TRACKING_URI to another")


def _aside(database: Path) -> Path:
    """A free name beside it."""
    number, free = 1, database.with_name(f"{database.name}.{HALF_MADE}")
    while free.exists():
        number += 1
        free = database.with_name(f"{database.name}.{HALF_MADE}.{number}")
    return free


def _make(database: Path) -> None:
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    part = database.with_name(f".{database.name}.part")
    left = [part, *(part.with_name(part.name + end) for end in ("-journal", "-wal", "-shm"))]
    try:
        with replacing(database) as part:
            for path in left:
                path.unlink(missing_ok=True)
            part.touch()  # what cannot be made is said at once: MLflow would try for two minutes
            store: Any = SqlAlchemyStore(_url(part, "sqlite+pysqlite"), artifacts_beside(database))
            store.engine.dispose()
    finally:
        for path in left:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def artifacts_beside(database: Path) -> str:
    """Where the files of the runs in a SQLite database go."""
    return (database.parent / "mlartifacts").as_uri()
