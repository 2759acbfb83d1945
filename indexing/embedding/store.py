"""Vectors kept on disk by the hash of what was embedded: one SQLite file for each embedder identity.

SQLite, because a batch must be there wholly or not at all after a kill, because two processes may embed at once, and
because lookups are by key: its write-ahead log gives the first two (on a local disk, not on a network file system).
Whatever is here can be made again, so a damaged entry is passed over and a damaged file thrown away.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from arena.errors import ConfigError, storage_advice
from indexing.embedding.encoder import ENCODING, Identity
from indexing.embedding.payload import FORMAT, Kept, pack, unpack

T = TypeVar("T")

BUSY_SECONDS = 60  # how long a writer waits for another process's batch
LOOKUP = 500  # keys of one query
PAGE_BYTES = 16384  # three 1024-dimensional entries a page, none split over two
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS identity (json TEXT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, payload BLOB NOT NULL)",
)


class EmbeddingCache:
    """What one embedder, by its identity, has made of which texts. Safe for any number of threads and processes."""

    def __init__(self, root: Path, identity: Identity) -> None:
        """Open or create the file of this identity under `root`. Raises `ConfigError` when that cannot be done."""
        self._identity = json.dumps(
            {"format": FORMAT, "encoding": ENCODING, **identity}, sort_keys=True, ensure_ascii=False
        )
        self.path = root / f"{hashlib.sha256(self._identity.encode()).hexdigest()[:16]}.sqlite"
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._do(lambda connection: None)

    def get(self, kind: str, texts: Iterable[str]) -> dict[str, Kept]:
        """What is kept of `texts` as `kind` (passage, query); whatever is damaged counts as not kept."""
        wanted = {_key(kind, text): text for text in texts}
        keys = list(wanted)
        found: dict[str, Kept] = {}
        for start in range(0, len(keys), LOOKUP):
            for key, payload in self._do(partial(_select, keys=keys[start : start + LOOKUP])):
                kept = unpack(payload, key)
                if kept is not None:
                    found[wanted[key]] = kept
        return found

    def put(self, kind: str, entries: Mapping[str, Kept]) -> None:
        """Keep all entries, by text, or none of them. Raises `ConfigError` when they cannot be written."""
        keyed = [(_key(kind, text), kept) for text, kept in entries.items()]
        rows = [(key, pack(kept, key)) for key, kept in keyed]
        self._do(partial(_insert, rows=rows))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __del__(self) -> None:
        with suppress(AttributeError):  # opening had failed
            self.close()

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Work on the open file. One that is found damaged is thrown away, and the work done on a new one."""
        with self._lock:
            try:
                try:
                    return work(self._opened())
                except sqlite3.DatabaseError as error:
                    if error.sqlite_errorcode & 0xFF not in _DAMAGED:
                        raise
                    self._throw_away()
                    return work(self._opened())
            except (sqlite3.Error, OSError) as error:
                raise ConfigError(
                    f"cannot use the embedding cache {str(self.path)!r}: {error}; {storage_advice(error)}"
                ) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _connect(self.path, self._identity)
        return self._connection

    def _throw_away(self) -> None:
        """Remove the damaged file, unless another process has just put a sound one in its place."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        with FileLock(self.path.with_suffix(".lock")):
            if not _is_sound(self.path, self._identity):
                for suffix in ("", "-wal", "-shm"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\0{text}".encode()).digest()


def _connect(path: Path, identity: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
    try:
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # a kill loses nothing; a power cut at most the last batches
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT OR IGNORE INTO identity VALUES (?)", (identity,))
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _is_sound(path: Path, identity: str) -> bool:
    try:
        connection = _connect(path, identity)
    except sqlite3.DatabaseError:
        return False
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError:
        return False
    finally:
        connection.close()


def _select(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    marks = ",".join("?" * len(keys))
    return connection.execute(f"SELECT key, payload FROM vectors WHERE key IN ({marks})", keys).fetchall()


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[bytes, bytes]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        connection.execute("COMMIT")
    except sqlite3.Error:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
