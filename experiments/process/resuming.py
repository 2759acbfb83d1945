"""How to go on with a run, as messages name it."""

from __future__ import annotations

import shlex
from contextlib import suppress

from arena.errors import RunStoreError
from arena.store import MANIFEST, RunStore
from experiments.process.imported import is_imported


def resume_command(store: RunStore) -> str:
    """What to type, from any working directory that the folder's path is relative to."""
    place = f"--run-id {store.run_id} --runs-dir {shlex.quote(str(store.folder.parent))}"
    with suppress(RunStoreError):  # no run, or a damaged one: named by whoever opens it
        manifest = store.manifest()
        if is_imported(manifest):
            return f"arena import FILE ... --dataset {shlex.quote(str(manifest['config'].get('dataset')))} {place}"
        tool = (manifest["config"].get("external") or {}).get("tool")
        if tool is not None:  # code is named again by whoever lets it run
            return f"arena run --resume {place} --set external.tool={shlex.quote(str(tool))}"
    return f"arena run --resume {place}"


def way_on(store: RunStore, kept: str, command: str) -> str:
    """What a stopped run says: what is kept and the command that goes on, or that the folder is gone with all of it."""
    if not (store.folder / MANIFEST).exists():
        return f"run folder {str(store.folder)!r} is gone with all that was done: start a new run"
    return f"{kept}; continue with: {command}"
