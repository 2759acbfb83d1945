"""Who worked on a run, when, and with what: one entry in the manifest for every process that did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from arena.errors import RunStoreError
from arena.store import RUNNING, STOPPED, RunStore
from experiments.manifests.machine import git_state, library_versions, machine
from experiments.manifests.manifest import with_warnings
from experiments.process.clock import now
from experiments.terminal.progress import Reporter


@dataclass(slots=True)
class Session:
    """One process's work on a run. The time of day is a label only: `seconds` come from a clock that never goes back.

    `opened`: the manifest has it. A session that was killed has no end there.
    """

    started: str = field(default_factory=now)
    clock: Callable[[], float] = perf_counter
    began: float = field(init=False)
    opened: bool = False

    def __post_init__(self) -> None:
        self.began = self.clock()

    def opening(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """The manifest with this session begun; whoever writes it holds the folder."""
        entry = {"started": self.started, "finished": None, "seconds": None, "machine": machine(), "git": git_state()}
        changed = changed_between(manifest.get("libraries", {}), library_versions())
        noted = with_warnings(manifest, [f"continued with other libraries: {'; '.join(changed)}"] if changed else [])
        return noted | {"sessions": [*manifest.get("sessions", []), entry]}

    def closing(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """The manifest with this session ended."""
        *before, entry = manifest["sessions"]
        ended = entry | {"finished": now(), "seconds": self.clock() - self.began}
        return dict(manifest) | {"sessions": [*before, ended]}


@contextmanager
def working(store: RunStore, reporter: Reporter, session: Session) -> Iterator[None]:
    """Work on a run; however that ends, the manifest gets the session's end and every warning that was given."""
    try:
        yield
    finally:
        if session.opened:
            with suppress(RunStoreError), store.holding():  # the folder may be what went wrong
                manifest = with_warnings(session.closing(store.manifest()), reporter.warnings)
                stopped = {"status": STOPPED} if manifest["status"] == RUNNING else {}
                store.write_manifest(manifest | stopped)


def changed_between(before: Mapping[str, str | None], after: Mapping[str, str | None]) -> list[str]:
    """`name old -> new` for every library that both know and that is not what it was."""
    return [f"{name} {old} -> {after[name]}" for name, old in before.items() if name in after and after[name] != old]
