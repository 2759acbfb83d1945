"""The files of an index, stamped when it is built and compared when it is opened or verified."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from arena.json_reading import read_json

QUICK_BYTES = 31 << 20  # below the pages of 32 MiB in which vectors lie


class FileStamp(BaseModel):
    """What a file must be: its size, and its content by hash. Of JSON, the content is what it says.

    The engine writes its JSON anew whenever it opens an index, with the keys of an object in any order.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    size_bytes: int
    sha256: str


def stamps(folder: Path) -> dict[str, FileStamp]:
    """Every file under `folder`, by its path in it."""
    return {
        path.relative_to(folder).as_posix(): FileStamp(size_bytes=path.stat().st_size, sha256=_content_sha256(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def damaged(folder: Path, files: Mapping[str, FileStamp], *, quick: bool = False) -> list[str]:
    """One line for each file that is missing or is not what was stamped, bit for bit (JSON: key for key).

    `quick` takes the content of large files on trust. They hold vectors, where damage makes wrong scores; in the
    small ones it makes an engine crash, past any error handling.
    """
    return [problem for path, stamp in files.items() if (problem := _problem(folder / path, stamp, quick))]


def _problem(place: Path, stamp: FileStamp, quick: bool) -> str | None:
    if not place.is_file():
        return f"{str(place)!r} is missing"
    if (size := place.stat().st_size) != stamp.size_bytes:
        return f"{str(place)!r} is damaged: {size} bytes, not {stamp.size_bytes}"
    if quick and size > QUICK_BYTES:
        return None
    found = _sha256(place)
    if found != stamp.sha256 and _content_sha256(place) != stamp.sha256:
        return f"{str(place)!r} is damaged: SHA-256 {found}, not {stamp.sha256}"
    return None


def _content_sha256(path: Path) -> str:
    if path.suffix == ".json":
        try:
            content = read_json(path)
        except ValueError:
            return _sha256(path)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return _sha256(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
