"""Run folders made of given records, as a finished run leaves them, without any run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from arena.config import RunConfig
from arena.plan import PlannedCell, RunPlan
from arena.store import FINISHED, RunStore
from arena.types import Dataset, RunRecord


def made_run(
    folder: Path,
    spec: str,
    dataset: Dataset,
    records: Sequence[RunRecord],
    *,
    status: str = FINISHED,
    **settings: Any,
) -> RunStore:
    """A run on `dataset`, to be loaded as `spec`: every cell of `records` was asked every question of them.

    `settings` are those of its config beside the dataset.
    """
    config = RunConfig(dataset=spec, **settings)
    asked = tuple(dict.fromkeys(record.question_id for record in records))
    cells = {record.cell.key: PlannedCell(record.cell, asked) for record in records}
    manifest = {
        "status": status,
        "started": "2026-01-01T00:00:00+00:00",
        "fingerprint": "run_0123456789abcdef",
        "config": config.model_dump(mode="json"),
        "identity": {"dataset": dataset.fingerprint},
    }
    store = RunStore(folder)
    kept = patch("os.fsync")  # no power is cut here, and each record would wait for the disk
    with kept, store.creating(manifest, RunPlan(tuple(cells.values()))) as journal:
        for record in records:
            journal.append(record)
    return store
