"""The rows of a sweep, copied to MLflow."""

from __future__ import annotations

from collections.abc import Sequence

from arena.config import tracking_uri
from arena.errors import TrackingError
from arena.tracking.runs import warning_codes
from arena.tracking.track import SweptCell, SweptCells, track_sweep
from experiments.sweeping.folder import PICTURE, TABLE, SweepFolder
from experiments.sweeping.row import SweepRow, versions_text
from experiments.terminal.progress import Reporter

_TAG_CHARS = 5_000


def track_rows(folder: SweepFolder, fingerprint: str, rows: Sequence[SweepRow], reporter: Reporter) -> str | None:
    """A parent run for the sweep and a child for each row; the parent's id (None: it could not be written)."""
    reporter.say("logging to MLflow ...")
    files = [path for name in (TABLE, PICTURE) if (path := folder.path / name).exists()]
    sweep = SweptCells(folder.sweep_id, fingerprint, [_cell(row) for row in rows], files)
    try:
        tracked = track_sweep(sweep, folder.path.parent, tracking_uri())
    except TrackingError as error:
        reporter.warn(f"MLflow was not written ({error}); the sweep folder has everything")
        return None
    for note in tracked.notes:
        reporter.warn(note)
    return tracked.run_id


def _cell(row: SweepRow) -> SweptCell:
    tags = {
        "source": row.source,
        "warnings": warning_codes(row.warnings),
        "arena": row.versions.get("rag-strategy-arena") or "unknown",
        "versions": versions_text(row.versions)[:_TAG_CHARS],
        "fingerprint": row.run_fingerprint,
        **({"mlflow.source.git.commit": row.commit} if row.commit else {}),
    }
    return SweptCell(row.point.name, row.cell, row.point.values, row.date, not row.cut, tags)
