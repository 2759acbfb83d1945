"""Small files that are there wholly or not at all, whoever reads or dies meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_whole(file: Path, text: str) -> None:
    """Put `text` (UTF-8) at `file` in one step. Raises `OSError`, and then leaves what was there."""
    copy = file.with_name(f".{file.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        copy.write_text(text, encoding="utf-8")
        os.replace(copy, file)
    finally:
        copy.unlink(missing_ok=True)
