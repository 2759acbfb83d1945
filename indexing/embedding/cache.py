"""An encoder that embeds no text twice: its vectors are kept on disk, across runs, corpora and engines.

There is one SQLite file for each embedder identity, and the key of a vector is the hash of what was embedded. SQLite,
because a batch must be there wholly or not at all after a kill, because two processes may embed at once, and because
lookups are by key: its write-ahead log gives the first two (on a local disk, not on a network file system). Whatever is
here can be made again, so a damaged entry is passed over and a damaged file thrown away.

An entry is a checksum, four counts, then float32 and int32 numbers, little-endian.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from filelock import FileLock

from arena.errors import ConfigError, storage_advice
from arena.identity import canonical_json, short_hash
from arena.protocols import SparseVector, Vectors
from indexing.embedding.embedder import ENCODING, Encoded, Encoder, Identity, Provenance, TimedEncoded, require_finite

FORMAT = 1
"""Raised with every change of the bytes below, or of the keys they are kept under."""

_COUNTS = struct.Struct("<IiiI")  # dense width, terms (-1 = no lexical lane), token vectors (-1 = none), their width
_CHECK = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of one text: as in `Encoded`, and the seconds it took (0 for a passage)."""

    dense: Vectors
    lexical: SparseVector | None = None
    multi: Vectors | None = None
    seconds: float = 0.0


def pack(kept: Kept, key: bytes) -> bytes:
    """The bytes of `kept`; their checksum covers `key` too, so that no entry passes for another."""
    terms = -1 if kept.lexical is None else len(kept.lexical.indices)
    rows, width = (-1, 0) if kept.multi is None else kept.multi.shape
    parts = [_COUNTS.pack(len(kept.dense), terms, rows, width), struct.pack("<d", kept.seconds), _bytes(kept.dense)]
    if kept.lexical is not None:
        parts.append(np.asarray(kept.lexical.indices, dtype="<i4").tobytes())
        parts.append(_bytes(np.asarray(kept.lexical.values, dtype=np.float32)))
    if kept.multi is not None:
        parts.append(_bytes(kept.multi))
    body = b"".join(parts)
    return _CHECK.pack(zlib.crc32(body, zlib.crc32(key))) + body


def unpack(payload: bytes, key: bytes) -> Kept | None:
    """What was packed under `key`, or None when these bytes are not it."""
    body = memoryview(payload)[_CHECK.size :]
    if len(body) < _COUNTS.size + 8 or _CHECK.unpack_from(payload)[0] != zlib.crc32(body, zlib.crc32(key)):
        return None
    size, terms, rows, width = _COUNTS.unpack_from(body)
    (seconds,) = struct.unpack_from("<d", body, _COUNTS.size)
    numbers = np.frombuffer(body, dtype="<f4", offset=_COUNTS.size + 8)
    dense, rest = numbers[:size], numbers[size:]
    lexical = None
    if terms >= 0:
        indices = rest[:terms].view("<i4")
        lexical = SparseVector(tuple(indices.tolist()), tuple(rest[terms : 2 * terms].tolist()))
        rest = rest[2 * terms :]
    multi = rest.reshape(rows, width) if rows >= 0 else None
    return Kept(dense, lexical, multi, seconds)


def _bytes(numbers: Vectors) -> bytes:
    return np.ascontiguousarray(numbers, dtype="<f4").tobytes()


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
        self._identity = canonical_json({"format": FORMAT, "encoding": ENCODING, **identity})
        self.path = root / f"{short_hash(self._identity)}.sqlite"
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


PASSAGE = "passage"


class CachedEncoder:
    """An `Encoder` before another one. Bits are those of the first embedding, also for texts that come again.

    New passages are embedded longest first and kept after each batch of `batch_texts`, so a kill costs one batch.
    Numbers that are not finite are never kept: `WeightsError` names the text, and the next process tries it again.
    Queries are kept with the seconds they took, and for each kind of device apart: a time of one
    device says nothing about another.
    """

    def __init__(self, encoder: Encoder, root: Path) -> None:
        """Keep vectors in a file under `root`. Raises `ConfigError` when it cannot be opened."""
        self._encoder = encoder
        self._cache = EmbeddingCache(root, encoder.identity)
        device, _, _ = str(encoder.provenance["device"]).replace(",", ":").partition(":")
        self._query_kind = f"query on {device}"

    @property
    def identity(self) -> Identity:
        return self._encoder.identity

    @property
    def provenance(self) -> Provenance:
        return self._encoder.provenance

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    @property
    def batch_texts(self) -> int:
        return self._encoder.batch_texts

    def count_truncated(self, texts: Sequence[str]) -> int:
        return self._encoder.count_truncated(texts)

    def knows(self, queries: Iterable[str]) -> bool:
        """Whether all of `queries` are kept, as made on this kind of device."""
        wanted = set(queries)
        return wanted <= self._cache.get(self._query_kind, wanted).keys()

    def close(self) -> None:
        """Close the cache's file; the next use opens it again."""
        self._cache.close()

    def passages(self, texts: Sequence[str]) -> Encoded:
        kept = self._cache.get(PASSAGE, texts)
        for batch in self._batches(texts, kept):
            encoded = require_finite(self._encoder.passages(batch), batch, self.identity)
            fresh = _entries(batch, encoded, (0.0,) * len(batch))
            self._cache.put(PASSAGE, fresh)
            kept |= fresh
        return self._together(texts, kept)

    def queries(self, texts: Sequence[str]) -> TimedEncoded:
        kept = self._cache.get(self._query_kind, texts)
        known = tuple(text in kept for text in texts)
        for batch in self._batches(texts, kept):
            timed = self._encoder.queries(batch)
            require_finite(timed.encoded, batch, self.identity)
            fresh = _entries(batch, timed.encoded, timed.seconds)
            self._cache.put(self._query_kind, fresh)
            kept |= fresh
        return TimedEncoded(self._together(texts, kept), tuple(kept[text].seconds for text in texts), known)

    def _batches(self, texts: Sequence[str], kept: Mapping[str, Kept]) -> Iterator[list[str]]:
        new = sorted((text for text in dict.fromkeys(texts) if text not in kept), key=lambda text: -len(text))
        return (new[start : start + self.batch_texts] for start in range(0, len(new), self.batch_texts))

    def _together(self, texts: Sequence[str], kept: Mapping[str, Kept]) -> Encoded:
        if not texts:
            return self._encoder.passages([])
        entries = [kept[text] for text in texts]
        lexical = [entry.lexical for entry in entries if entry.lexical is not None]
        multi = [entry.multi for entry in entries if entry.multi is not None]
        return Encoded(
            np.stack([entry.dense for entry in entries]),
            tuple(lexical) if len(lexical) == len(entries) else None,
            tuple(multi) if len(multi) == len(entries) else None,
        )


def _entries(texts: Sequence[str], encoded: Encoded, seconds: Sequence[float]) -> dict[str, Kept]:
    lexical = encoded.lexical or (None,) * len(texts)
    multi = encoded.multi or (None,) * len(texts)
    rows = zip(texts, encoded.dense, lexical, multi, seconds, strict=True)
    return {text: Kept(dense, terms, matrix, took) for text, dense, terms, matrix, took in rows}
