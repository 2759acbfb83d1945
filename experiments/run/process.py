"""Garbage collection where its pauses would be felt.

Keeping what was paid for: one line of a journal after the other, whatever is cancelled meanwhile.

Stopping gently: a signal gives up what is in flight, and what is done is kept.

The time of day, as run folders and manifests write it.

How a run that `arena import` made is told from one that asked its own contestants.

How to go on with a run, as messages name it; its leaderboard, as far as it got.

`arena doctor`: is this installation sound?

`arena`, `strategies` and `experiments` are names of other people's projects on the public index. Two
distributions that provide one package overwrite each other without a word, so that is checked first.
"""

from __future__ import annotations

import asyncio
import gc
import shlex
import shutil
import signal
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import entry_points, packages_distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from pydantic import ValidationError

from arena.config import cache_dir, cache_folder
from arena.errors import RunStoreError, UserError
from arena.leaderboard.build import Leaderboard
from arena.store import FINISHED, LEADERBOARD, MANIFEST, RunStore
from arena.store.journal import JournalWriter
from experiments.terminal.tables import SIGNALS, Console


@contextmanager
def short_pauses() -> Iterator[None]:
    """Spare the collector what was there before: models and index stay for the whole run.

    With torch loaded that is half a million objects. Each full collection would look at all of them, and hold every
    question in flight up for half a second, which their latencies would show.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def no_pauses() -> Iterator[None]:
    """Collect no cycles: for work that makes millions of objects, keeps them and then ends.

    Looking through them again and again takes a fifth of the time in which a large report is written.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


T = TypeVar("T")


def keeper(
    writer: JournalWriter[T], *, ahead: Callable[[], None] = lambda: None
) -> Callable[[T], Coroutine[Any, Any, None]]:
    """Appends to the journal beside the event loop, which no slow disk then holds up, and calls `ahead` before.

    Who hands in a record waits until it is on disk, and no cancellation cuts that short.
    """
    one_at_a_time = anyio.CapacityLimiter(1)

    def append(record: T) -> None:
        ahead()
        writer.append(record)

    async def keep(record: T) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(append, record, limiter=one_at_a_time)

    return keep


@contextmanager
def until_stopped() -> Iterator[anyio.CancelScope]:
    """A scope that each of `SIGNALS` cancels; its `cancel_called` says afterwards whether one did."""
    with anyio.CancelScope() as scope, _hearing(scope.cancel):
        yield scope


@contextmanager
def _hearing(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` in the running event loop for each of `SIGNALS`.

    One that is ignored, as Ctrl-C is in a background job of a script and a hang-up under nohup, stays ignored.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    heard = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    for number in heard:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])


def now() -> str:
    """The time of day, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


IMPORTED = "imported"
"""Key of a contestant's identity: SHA-256 of the file that its records were read from; no code of it is known."""


def is_imported(manifest: Mapping[str, Any]) -> bool:
    """Whether the run's records come from files: nothing can be asked again."""
    return any(IMPORTED in contestant for contestant in manifest["identity"].get("contestants", {}).values())


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


def read_leaderboard(store: RunStore) -> Leaderboard:
    """The leaderboard of a run that was finished once, as its file has it.

    Raises:
        RunStoreError: there is none yet, or it is damaged.
    """
    if store.manifest()["status"] != FINISHED and not (store.folder / LEADERBOARD).exists():
        raise RunStoreError(
            f"run {store.run_id!r} is not finished and has no leaderboard yet: {resume_command(store)} finishes it, "
            f"and arena score {shlex.quote(str(store.folder))} shows what there is"
        )
    try:
        return Leaderboard.model_validate_json(store.leaderboard_json())
    except ValidationError:
        raise RunStoreError(
            f"leaderboard.json of run {store.run_id!r} is damaged, or of another version: derive it anew "
            f"with arena score {shlex.quote(str(store.folder))}"
        ) from None


def staleness(store: RunStore) -> str | None:
    """What to say of the leaderboard of a run that was given more after it was finished; None: it is up to date."""
    if store.manifest()["status"] == FINISHED:
        return None
    return (
        f"run {store.run_id!r} was given more and is not finished: this is its leaderboard from before; "
        f"{resume_command(store)} finishes it"
    )


DISTRIBUTION = "rag-strategy-arena"
PACKAGES = ("arena", "strategies", "indexing", "experiments")
GROUPS = ("arena.datasets", "arena.strategies")  # written out: a start need not load what they add to
"""Groups of entry points through which other packages add to this one."""
_CACHE_BYTES_NEEDED = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, whether it is sound, and what was seen or what to do."""

    subject: str
    sound: bool
    detail: str


def examine() -> list[Finding]:
    """All checks, in the order in which a user should mend them."""
    return [
        *collisions(packages_distributions()),
        *shadows(Path.cwd()),
        *(Finding("plug-in", False, text) for text in unknown_groups(entry_points().groups)),
        _cache(cache_dir()),
        *_weights(),
    ]


def report(findings: Iterable[Finding], console: Console) -> bool:
    """Print one line per finding; True when all are sound."""
    findings = list(findings)
    for finding in findings:
        mark = "ok  " if finding.sound else "BAD "
        console.print(f"{mark} {finding.subject}: {finding.detail}", markup=False, highlight=False, soft_wrap=True)
    return all(finding.sound for finding in findings)


def collisions(providers: Mapping[str, Iterable[str]]) -> list[Finding]:
    """Whether each of our packages comes from our distribution alone.

    Args:
        providers: package -> distributions that provide it, as `importlib.metadata.packages_distributions`.
    """
    findings = []
    for package in PACKAGES:
        others = sorted(set(providers.get(package, ())) - {DISTRIBUTION})
        detail = f"also provided by {', '.join(others)}: uninstall it, then reinstall {DISTRIBUTION}"
        findings.append(Finding(f"package {package}", not others, detail if others else f"from {DISTRIBUTION} alone"))
    return findings


def shadows(folder: Path) -> list[Finding]:
    """What in `folder`, where Python looks first, stands before our packages: an own script there gets it instead."""
    findings = []
    for package in PACKAGES:
        places = [place for place in (folder / package, folder / f"{package}.py") if place.exists()]
        found = find_spec(package)
        ours = {Path(place).resolve() for place in (found and found.submodule_search_locations) or ()}
        for place in places:
            if place.resolve() not in ours and (place.is_file() or (place / "__init__.py").exists()):
                detail = f"{str(place)!r} hides our package from Python started here: rename it, or work elsewhere"
                findings.append(Finding(f"package {package}", False, detail))
    return findings


def unknown_groups(groups: Iterable[str]) -> list[str]:
    """What to say of each group of entry points that looks like ours and is not: its plug-ins are never used."""
    return [
        f"an installed package has plug-ins in {group!r}, and there is no such group: known are {', '.join(GROUPS)}"
        for group in sorted(groups)
        if group.startswith("arena.") and group not in GROUPS
    ]


def _cache(folder: Path) -> Finding:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".doctor"
        probe.touch()
        probe.unlink()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding("cache", False, f"cannot write to {str(folder)!r} ({error.strerror}): set ARENA_CACHE elsewhere")
    enough = free > _CACHE_BYTES_NEEDED
    return Finding("cache", enough, f"{folder}, {free / 1e9:.1f} GB free" + ("" if enough else ": make room"))


def _weights() -> list[Finding]:
    from indexing.weights import list_models

    try:
        listed = list_models(cache_folder("weights"))
    except UserError as error:
        return [Finding("weights", False, str(error))]
    return [
        Finding(f"weights {one.model.name}", True, str(one.path) if one.path else "not here yet; fetched on first use")
        for one in listed
    ]
