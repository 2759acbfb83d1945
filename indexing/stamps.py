"""Remembered hashes: a file of gigabytes is read once, and again only when its size or modification time changes."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from arena.json_reading import read_json
from indexing.replacing import write_whole

STAMPS = ".verified.json"

Stamp = list[int | str]
"""Size, modification time in nanoseconds, SHA-256."""


def file_sha256(folder: Path, path: str) -> str:
    """SHA-256 of `folder / path`, from its stamp where one holds. Raises `OSError`."""
    place = folder / path
    status = place.stat()
    stamp = _stamps(folder).get(path)
    if stamp is not None and stamp[:2] == [status.st_size, status.st_mtime_ns]:
        return str(stamp[2])
    with place.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def stamp(folder: Path, path: str, sha256: str) -> None:
    """Remember the hash of a file that was just read."""
    status = (folder / path).stat()
    known = _stamps(folder)
    stamps = known | {path: [status.st_size, status.st_mtime_ns, sha256]}
    if stamps == known:
        return
    with suppress(OSError):  # weights in a read-only folder are as good; they are hashed every time
        write_whole(folder / STAMPS, json.dumps(stamps, indent=1))


def _stamps(folder: Path) -> dict[str, Stamp]:
    """What was hashed, by path; empty when nothing readable says so, which only costs another hash."""
    try:
        stamps = read_json(folder / STAMPS)
    except (OSError, ValueError):
        return {}
    if not isinstance(stamps, dict):
        return {}
    return {path: entry for path, entry in stamps.items() if isinstance(entry, list) and len(entry) == 3}
