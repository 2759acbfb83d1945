"""The reply cache: a call that was paid for is kept on disk and never paid twice.

One SQLite file for all models and runs. Its write-ahead log keeps a reply wholly or not at all after a kill, and lets
any number of processes read and write at once (on a local disk, not on a network file system). What is in the file cost
money: it is never thrown away unasked, but a file that cannot be used is refused.

The key of a reply is everything that tells one call from another: see `cache_key`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from filelock import FileLock

from arena.errors import ModelSetupError, storage_advice
from arena.protocols import ModelRequest, TokenChoice
from arena.types import CallAttempt, known_count

FORMAT = 1
"""Raised with every change of what a key is made of, or of what is kept under it."""


def cache_key(identity: Mapping[str, object], parameters: Mapping[str, object], request: ModelRequest) -> str:
    """64 hex digits: the SHA-256 of the canonical JSON of everything that can change a reply.

    `identity` is who replies (provider, endpoint, model, hash of its weights or script), `parameters` how it is set
    (temperature, token bound, seed, ...). Of the request, `role` and `repair` are left out: they are never sent.
    The order of keys makes no difference, but for `json_schema`, whose fields a model writes in the schema's order.
    """
    prompt = request.prompt
    sent = {
        "prompt": prompt if isinstance(prompt, str) else [[turn.role, turn.content] for turn in prompt],
        "room": request.room,
        "limit": request.limit,
        "alternatives": request.alternatives,
        "json_schema": None if request.json_schema is None else _json(request.json_schema, sort_keys=False),
        "stop": list(request.stop),
        "sample": request.sample,
    }
    canonical = _json([FORMAT, identity, parameters, sent], sort_keys=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _json(value: object, *, sort_keys: bool) -> str:
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r} is no JSON value: it cannot be part of a cache key")


T = TypeVar("T")

BUSY_SECONDS = 30  # how long one waits for another process's write
_APPLICATION_ID = 0x72616763  # marks our files among all SQLite files


@dataclass(frozen=True, slots=True)
class CachedReply:
    """A good reply as the provider gave it. `attempts`: all that it took, the last of which brought it."""

    text: str
    tokens: tuple[TokenChoice, ...]
    attempts: tuple[CallAttempt, ...]
    finish_reason: str | None
    dropped: tuple[str, ...] = ()


class ReplyCache:
    """Replies by `cache_key`. Safe for any number of threads and processes, and for a kill at any moment.

    Every method raises `ModelSetupError` when the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        """Open `path`, or create it with its folder."""
        self._path = path
        self._lock = threading.Lock()
        self._connection = self._guarded(lambda: _open(path))

    def get(self, key: str) -> CachedReply | None:
        """The reply kept under `key`; None when there is none. A damaged one is none, and makes room for the next.

        So is one that an older version kept and that is no reply; counts of tokens that are none are unknown.
        """
        return self._guarded(lambda: _select(self._connection, key))

    def put(self, key: str, reply: CachedReply) -> None:
        """Keep `reply`, unless there is one under `key` already: the first stays. It is on disk on return.

        What could not be read back is not kept.
        """
        payload = _pack(reply)
        if _unpack(payload) is None:
            return
        row = (key, _checksum(key, payload), payload)
        self._guarded(lambda: self._connection.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", row))

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _guarded(self, work: Callable[[], T]) -> T:
        """What `work` returns, one thread at a time."""
        with self._lock:
            try:
                return work()
            except (sqlite3.Error, OSError) as error:
                raise ModelSetupError(
                    f"cannot use the reply cache {str(self._path)!r}: {error}; {storage_advice(error)}; or "
                    "delete the file if it is no longer wanted, or run with --no-cache"
                ) from error


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)
    try:
        # SQLite gives up at once, whatever its timeout, where two processes make the same file.
        with FileLock(path.with_name(f"{path.name}.lock"), timeout=BUSY_SECONDS):
            if not _is_ours(connection, path):  # asked first: a foreign file is left as it is
                _create(connection)
        connection.execute("PRAGMA synchronous = NORMAL")  # a kill loses nothing; a power cut at most the last replies
        connection.execute("BEGIN IMMEDIATE")  # a file that cannot be written is refused now, not after the first bill
        connection.execute("ROLLBACK")
    except (sqlite3.Error, OSError, ModelSetupError):
        connection.close()
        raise
    return connection


def _is_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is a reply cache; False = it is empty. Refuses any other file, and another version's."""
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (mark, version) == (_APPLICATION_ID, FORMAT):
        return True
    if mark == _APPLICATION_ID:
        raise ModelSetupError(
            f"the reply cache {str(path)!r} has format {version}, and this version of the arena reads format {FORMAT}: "
            "delete the file, or run with --no-cache"
        )
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if mark or version or objects:
        raise ModelSetupError(
            f"{str(path)!r} is a database of something else, and no reply cache: move it away, or run with --no-cache"
        )
    return False


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, checksum INTEGER NOT NULL, json BLOB NOT NULL)")
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute("COMMIT")


def _select(connection: sqlite3.Connection, key: str) -> CachedReply | None:
    row = connection.execute("SELECT checksum, json FROM replies WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    checksum, payload = row
    if isinstance(payload, bytes) and checksum == _checksum(key, payload):
        reply = _unpack(payload)
        if reply is not None:
            return reply
    connection.execute("DELETE FROM replies WHERE key = ? AND checksum IS ? AND json IS ?", (key, *row))
    return None


def _checksum(key: str, payload: bytes) -> int:
    """Covers the key too, so that no reply passes for another's."""
    return zlib.crc32(payload, zlib.crc32(key.encode()))


def _pack(reply: CachedReply) -> bytes:
    """`reply` as JSON. Python's own dialect, because a log-probability may be minus infinity."""
    fields = {
        "text": reply.text,
        "tokens": [[token.text, token.logprob, dict(token.alternatives)] for token in reply.tokens],
        "attempts": [asdict(attempt) for attempt in reply.attempts],
        "finish_reason": reply.finish_reason,
        "dropped": reply.dropped,
    }
    return json.dumps(fields, separators=(",", ":")).encode("ascii")


def _unpack(payload: bytes) -> CachedReply | None:
    """The reply in `payload`; None if it is none that a record of a run could hold."""
    try:
        fields = json.loads(payload)
        reply = CachedReply(
            text=fields["text"],
            tokens=tuple(TokenChoice(text, logprob, alternatives) for text, logprob, alternatives in fields["tokens"]),
            attempts=tuple(_attempt(attempt) for attempt in fields["attempts"]),
            finish_reason=fields["finish_reason"],
            dropped=tuple(fields["dropped"]),
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    words = (reply.text, *reply.dropped, reply.finish_reason or "")
    return reply if all(isinstance(word, str) for word in words) else None


def _attempt(fields: dict[str, Any]) -> CallAttempt:
    counts = {name: known_count(value) for name, value in fields.items() if name.endswith("_tokens")}
    return CallAttempt(**{**fields, **counts})
