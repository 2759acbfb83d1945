"""A finished run as its folder has it: what is to be copied, and what tells one content of it from another."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from arena.config import fingerprint
from arena.errors import RunStoreError
from arena.leaderboard.build import Leaderboard
from arena.store import FINISHED, MANIFEST, RunStore

LAYOUT = 3
"""Of what is written to MLflow. Another layout is another content, so that a run is copied anew."""


@dataclass(frozen=True)
class FinishedRun:
    """A run with all its files written, and how many questions of a cell become traces."""

    store: RunStore
    manifest: Mapping[str, Any]
    board: Leaderboard
    traces: int

    @property
    def key(self) -> str:
        """What finds the copies of this run again: a run of that name, begun at that time."""
        return fingerprint("copy", {"run_id": self.store.run_id, "started": self.manifest["started"]})

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files that are copied, by name; locks and what is half written are none."""
        found = (path for path in self.store.folder.iterdir() if path.is_file())
        return tuple(sorted(path for path in found if path.suffix != ".lock" and not path.name.startswith(".")))

    @cached_property
    def digest(self) -> str:
        """Changes with any file but the manifest, which also keeps accounts of what was done with the run."""
        digest = hashlib.sha256(f"{LAYOUT} {self.traces}".encode())
        for path in self.files:
            if path.name != MANIFEST:
                with path.open("rb") as file:
                    digest.update(f"\0{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}".encode())
        return f"content_{digest.hexdigest()[:16]}"

    @property
    def started_ms(self) -> int:
        """When the run was started, in milliseconds of the Unix epoch."""
        return _milliseconds(self.manifest["started"])

    @property
    def finished_ms(self) -> int:
        """When it was finished; its start where the manifest does not say."""
        return _milliseconds(self.manifest.get("finished") or self.manifest["started"])


def finished_run(store: RunStore, traces: int) -> FinishedRun:
    """The run in `store`.

    Raises:
        RunStoreError: it is not finished, or a file of it cannot be read.
    """
    manifest = store.manifest()
    if manifest["status"] != FINISHED:
        raise RunStoreError(
            f"run {store.run_id!r} is not finished (its status is {manifest['status']!r}): continue it with "
            f"arena run --resume --run-id {store.run_id} --runs-dir {shlex.quote(str(store.folder.parent))}"
        )
    try:
        board = Leaderboard.model_validate_json(store.leaderboard_json())
    except ValidationError:
        raise RunStoreError(
            f"leaderboard.json of run {store.run_id!r} is damaged, or of another version: derive it anew with arena "
            f"score {shlex.quote(str(store.folder))}"
        ) from None
    return FinishedRun(store, manifest, board, traces)


def _milliseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000)
