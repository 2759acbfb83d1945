"""The manifest of a run: what it takes to understand, repeat, continue and verify it.

It says what the run was made with (processor, memory, GPU, versions, commit), and has an entry for every process that
worked on it. Whether a run may be continued with given settings is decided against it.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from arena.config import RunConfig, fingerprint
from arena.errors import RunStoreError
from arena.files import read_yaml_file
from arena.leaderboard.cells import price_source
from arena.plan import is_extension
from arena.store import FINISHED, RUNNING, STOPPED, RunStore
from arena.store.journal import JournalWriter
from arena.types import RunRecord
from experiments.execution.budget import price_table
from experiments.execution.identity import changes, line_fingerprints, run_fingerprint, version_of
from experiments.execution.prepare import Prepared
from experiments.execution.process import now
from experiments.terminal.progress import Reporter
from indexing.devices import lacks_gpus


def library_versions() -> dict[str, str | None]:
    """Distribution -> its version, of all that can move a figure (`libraries.yaml`); None: not installed."""
    names = read_yaml_file(Path(__file__).with_name("libraries.yaml"), "list of libraries")
    return {str(name): version_of(str(name)) for name in names}


def machine() -> dict[str, Any]:
    """The machine, in words and numbers; None for what it does not tell."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "cores_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_bytes": _memory_bytes(),
        "gpus": _gpus(),
    }


def git_state() -> dict[str, Any] | None:
    """Commit and dirtiness of the checkout this code runs from (None: it is installed, not checked out)."""
    here = Path(__file__).parent
    try:
        commit, dirty = (
            subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True, timeout=10).stdout
            for arguments in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit.strip(), "dirty": bool(dirty.strip())}


def _processor() -> str:
    """The processor's name as Linux tells it, else its architecture."""
    try:
        named = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        named = None
    return named[1].strip() if named else platform.processor() or platform.machine()


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def _gpus() -> list[str] | None:
    """Names of the GPUs that torch sees; None where torch was not needed and only it could tell."""
    torch = sys.modules.get("torch")
    if torch is None:
        return [] if lacks_gpus() else None
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


SCHEMA_VERSION = 2


def new_manifest(prepared: Prepared, started: str) -> dict[str, Any]:
    """The manifest of a run that starts now."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": RUNNING,
        "fingerprint": None,
        "started": started,
        "finished": None,
        **settled(prepared, started),
        "libraries": library_versions(),
        "machine": machine(),
        "git": git_state(),
        "sessions": [],
        "warnings": [],
    }


def settled(prepared: Prepared, started: str) -> dict[str, Any]:
    """The part of a manifest that settings, data and plan decide; it is written anew when a run is extended."""
    config, dataset, equipment, plan = prepared.config, prepared.entries.dataset, prepared.equipment, prepared.plan
    second = equipment.second_index_facts if equipment else None
    return {
        "fingerprint": run_fingerprint(prepared.identity, plan),
        "config": config.model_dump(mode="json"),
        "identity": dict(prepared.identity),
        "lines": line_fingerprints(prepared.identity, plan),
        "shard": str(plan.shard) if plan.shard else None,
        "seeds": {"sample": config.seed, "bootstrap": config.seed, "model": config.llm.seed},
        "dataset": {
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            "n_documents": len(dataset.documents),
            "n_questions": len(dataset.questions),
            "notes": list(dataset.notes),
        },
        "index": dict(equipment.index_facts) if equipment else None,
        **({"second_index": dict(second)} if second else {}),
        **prices_of(config, started),
    }


def prices_of(config: RunConfig, started: str) -> dict[str, Any]:
    """`prices`: what a run that was `started` then is priced by; `prices_fingerprint`: all of that in one word."""
    source = price_source(price_table(config, started)).model_dump(mode="json")
    own = {model: price.model_dump(mode="json") for model, price in config.prices.items()}
    return {"prices": source, "prices_fingerprint": fingerprint("prices", {"source": source, "own": own})}


def with_warnings(manifest: Mapping[str, Any], warnings: Iterable[str]) -> dict[str, Any]:
    """The manifest with these warnings beside those it has, each once."""
    return dict(manifest) | {"warnings": list(dict.fromkeys([*manifest.get("warnings", []), *warnings]))}


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
