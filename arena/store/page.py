"""report.html: a run as one page, written whole."""

from __future__ import annotations

from pathlib import Path

from arena.store.files import replace_text


def write_page(target: Path, html: str) -> None:
    """Replace the file. Raises `RunStoreError` where it cannot be written; `target` is then as it was."""
    replace_text(target, html)
