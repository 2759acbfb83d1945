"""Files of a run folder, written whole or not at all."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from arena.errors import RunStoreError
from arena.files import read_regular
from arena.journal import sync_folder


def replace(target: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside `target` and put it in its place once it is on disk.

    Of two files that are replaced one after the other, no power cut leaves the second new and the first old.

    Raises:
        RunStoreError: the disk refused; `target` is whole, the old one or the new.
    """
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("wb") as out:
            write(out)
            out.flush()
            os.fsync(out.fileno())
        part.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise RunStoreError(
            f"cannot write {str(target)!r}: {error.strerror or error}; the run's records are kept"
        ) from error


def replace_text(target: Path, text: str) -> None:
    """`replace` with a text."""
    replace(target, lambda out: out.write(text.encode()))


def replace_json(target: Path, content: Mapping[str, Any]) -> None:
    """`replace` with JSON for people to read."""
    replace_text(target, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_text(path: Path, *, derived: bool = False) -> str:
    """The file's text. `derived`: `arena score` makes it. Raises `RunStoreError` naming run, file and remedy."""
    try:
        return read_regular(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        remedy = f"derive it anew with arena score {shlex.quote(str(path.parent))}" if derived else "restore a copy"
        why = error.strerror if isinstance(error, OSError) else f"no UTF-8 ({error})"
        raise RunStoreError(f"cannot read {path.name} of run {path.parent.name!r}: {why}; {remedy}") from error
