"""Which run is meant when none is named."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from arena.errors import RunStoreError
from arena.store.folder import FINISHED, MANIFEST, RunStore


def latest_run(runs_dir: Path, *, unfinished: bool = False) -> RunStore:
    """The run most recently started in `runs_dir`; with `unfinished`, of those that can be continued.

    Raises:
        RunStoreError: there is none.
    """
    started: list[tuple[str, str, RunStore]] = []
    for path in runs_dir.glob(f"[!.]*/{MANIFEST}"):  # what begins with a dot is half made
        store = RunStore(path.parent)
        with suppress(RunStoreError):  # a damaged run is no candidate, and no obstacle to the others
            manifest = store.manifest()
            if not unfinished or manifest["status"] != FINISHED:
                started.append((manifest["started"], store.run_id, store))
    if not started:
        raise RunStoreError(f"no {'unfinished ' if unfinished else ''}run in {str(runs_dir)!r}")
    return max(started, key=lambda run: run[:2])[2]
