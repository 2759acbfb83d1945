"""What to do about a cache that cannot be written follows from the fault."""

from __future__ import annotations

import errno
import sqlite3

import pytest

from arena.errors import storage_advice


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(errno.ENOSPC, "no space"), "the disk is full: make room, or set ARENA_CACHE to another folder"),
        (PermissionError(errno.EACCES, "denied"), "this user may not write there"),
        (OSError(errno.EROFS, "read-only"), "this user may not write there"),
        (OSError(errno.EIO, "broken"), "set ARENA_CACHE to another folder"),
    ],
)
def test_a_fault_of_the_system(error: OSError, advice: str) -> None:
    assert storage_advice(error).startswith(advice)
    assert ("make room" in storage_advice(error)) == (error.errno == errno.ENOSPC)
    assert "ARENA_CACHE" in storage_advice(error)


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (sqlite3.SQLITE_FULL, "the disk is full"),
        (sqlite3.SQLITE_READONLY | (1 << 8), "this user may not write there"),
        (sqlite3.SQLITE_BUSY, "another process holds it"),
        (sqlite3.SQLITE_IOERR | (15 << 8), "the disk fails, or it is a network file system without SQLite's locks"),
        (sqlite3.SQLITE_PROTOCOL, "the disk fails, or it is a network file system"),
    ],
)
def test_a_fault_of_a_database(code: int, advice: str) -> None:
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    assert storage_advice(error).startswith(advice)
