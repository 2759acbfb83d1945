"""The command that goes on with a run, as messages name it."""

from __future__ import annotations

import shlex

from arena.store import RunStore


def resume_command(store: RunStore) -> str:
    """What to type, from any working directory that the folder's path is relative to."""
    return f"arena run --resume --run-id {store.run_id} --runs-dir {shlex.quote(str(store.folder.parent))}"
