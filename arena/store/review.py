"""review.jsonl: what reviewers said of a run's answers, one rating a line, written whole."""

from __future__ import annotations

from pathlib import Path

from arena.store.files import read_text, replace_text
from arena.store.folder import REVIEW


def review_text(folder: Path) -> str:
    """The file of a run folder as text; empty where nobody reviewed anything. Raises as `RunStore.labels_text`."""
    path = folder / REVIEW
    return read_text(path) if path.exists() else ""


def write_review(folder: Path, text: str) -> None:
    """Replace it. Whoever calls holds the folder."""
    replace_text(folder / REVIEW, text)
