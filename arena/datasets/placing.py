"""Putting a finished folder in its place: complete or not at all."""

from __future__ import annotations

import filecmp
import tempfile
from collections.abc import Callable
from pathlib import Path

from arena.errors import DatasetError


def place_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write plain files into a new folder beside `target`, then rename it to `target`.

    Parent folders are made. A `target` that already holds exactly those files is left alone, so the same
    command can be repeated; an interrupted one leaves no `target`.

    Raises:
        DatasetError: `target` is a file, holds anything else, or the disk refuses.
    """
    try:
        if target.exists() and not target.is_dir():
            raise DatasetError(f"{target} is a file; name a new folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as scratch:
            made = Path(scratch) / "made"
            made.mkdir()
            fill(made)
            if target.exists() and any(target.iterdir()):
                if not _same_files(made, target):
                    raise DatasetError(f"{target} is not empty and holds something else; name a new folder")
                return
            if target.exists():
                target.rmdir()  # Windows renames onto no folder, not even an empty one
            made.rename(target)
    except OSError as error:
        raise DatasetError(f"{target} cannot be written: {error.strerror or error}") from error


def _same_files(made: Path, target: Path) -> bool:
    names = sorted(path.name for path in made.iterdir())
    if names != sorted(path.name for path in target.iterdir()):
        return False
    matching, _, _ = filecmp.cmpfiles(made, target, names, shallow=False)
    return len(matching) == len(names)
