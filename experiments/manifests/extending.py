"""May a run be continued with these settings, and what becomes of its manifest if it may."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from arena.errors import RunStoreError
from arena.plan import is_extension
from arena.store import FINISHED, RUNNING, RunStore
from arena.store.journal import JournalWriter
from arena.types import RunRecord
from experiments.manifests.manifest import SCHEMA_VERSION, settled
from experiments.manifests.sessions import Session
from experiments.setup.identity import changes
from experiments.setup.prepared import Prepared

_SHOWN = 20


def check_version(store: RunStore) -> None:
    """Raise `RunStoreError` for a run that was begun by a version whose files this one does not read."""
    written = store.manifest().get("schema_version")
    if written != SCHEMA_VERSION:
        raise RunStoreError(
            f"run {store.run_id!r} was begun by another version (its manifest is of schema {written!r}, and this "
            f"version reads {SCHEMA_VERSION}): finish it with that one, or start a new run"
        )


def check_continues(prepared: Prepared, store: RunStore) -> None:
    """Whether what is there was made under these settings and is asked for by them; they may ask for more.

    Raises:
        RunStoreError: something that can change a result is not what it was, or cells or questions are gone; the
            message lists all of it.
    """
    if changed := changes(store.manifest()["identity"], prepared.identity):
        raise RunStoreError(
            f"run {store.run_id!r} cannot be continued, these settings differ: {listed(changed)}. "
            "Restore them, or start a new run under another run_id"
        )
    plan = store.whole_plan()
    if lost := is_extension(plan, prepared.plan):
        raise RunStoreError(
            f"run {store.run_id!r} can be given more cells and questions, and keeps those it has: {listed(lost)}. "
            "Add to them, or start a new run under another run_id"
        )
    if plan.shard is not None and plan != prepared.plan:
        raise RunStoreError(
            f"run {store.run_id!r} is shard {plan.shard} of a run: merge the shards first, then add to the merged run"
        )


def is_concluded(prepared: Prepared, store: RunStore) -> bool:
    """Whether the run was finished under exactly these settings, places and speeds included."""
    manifest = store.manifest()
    return manifest["status"] == FINISHED and manifest == manifest | settled(prepared, manifest["started"])


@contextmanager
def extending(prepared: Prepared, store: RunStore, session: Session) -> Iterator[JournalWriter[RunRecord]]:
    """Hold the folder, write down what it is to hold from now on, and hand out its journal.

    A kill between the two writes leaves a manifest whose settings ask for more than the plan does; continuing the run
    under them writes both again.
    """
    with store.holding():
        manifest = store.manifest()
        new = manifest | settled(prepared, manifest["started"]) | {"status": RUNNING}
        store.write_manifest(session.opening(new))
        session.opened = True
        store.write_plan(prepared.plan)
        with store.writing() as writer:
            yield writer


def listed(lines: Sequence[str]) -> str:
    """The first of them in one line, and how many more there are."""
    more = len(lines) - _SHOWN
    return "; ".join(lines[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
