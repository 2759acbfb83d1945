"""The process that runs: gentle stops, kept payments, garbage collection, the time of day; and `arena doctor`.

A signal gives up what is in flight, and what is done is kept; a line of a journal is written whole, whatever is
cancelled meanwhile. Garbage is collected where its pauses are not felt.

`arena`, `strategies` and `experiments` are names of other people's projects on the public index. Two distributions that
provide one package overwrite each other without a word, so that is checked first.
"""

from __future__ import annotations

import asyncio
import gc
import shutil
import signal
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import entry_points, packages_distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from arena.config import cache_dir, cache_folder
from arena.errors import RunInterrupted, UserError
from arena.store.journal import JournalWriter
from experiments.terminal.tables import SIGNALS, Console

_spares = False
"""Whether a `short_pauses` is open."""


@contextmanager
def short_pauses() -> Iterator[None]:
    """Spare the collector what was there before: models and index stay for the whole run.

    With torch loaded that is half a million objects. Each full collection would look at all of them, and hold every
    question in flight up for half a second, which their latencies would show. The outermost one counts: within it,
    another neither spares nor gives back.
    """
    global _spares
    if _spares:
        yield
        return
    _spares = True
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        _spares = False


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
    writer: JournalWriter[T], *, ahead: Callable[[], None] = lambda: None, after: Callable[[T], None] = lambda _: None
) -> Callable[[T], Coroutine[Any, Any, None]]:
    """Appends to the journal beside the event loop, which no slow disk then holds up, and calls `ahead` before.

    Who hands in a record waits until it is on disk and `after` was called with it, and no cancellation cuts that short.
    """
    one_at_a_time = anyio.CapacityLimiter(1)

    def append(record: T) -> None:
        ahead()
        writer.append(record)

    async def keep(record: T) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(append, record, limiter=one_at_a_time)
            after(record)

    return keep


def to_the_end(work: Callable[[], Coroutine[Any, Any, bool]], kept: Callable[[], str | None]) -> None:
    """Run `work`, which says whether it was stopped. `kept`: what is done and how to go on; None: nothing was begun.

    Raises:
        RunInterrupted: it was stopped, by the user or, after it had begun, by an error that only the user can mend.
        UserError: such an error before.
    """
    try:
        stopped = anyio.run(work)
    except UserError as error:
        done = kept()
        if done is None:
            raise
        raise RunInterrupted(f"{error}\n{done}") from error
    if stopped:
        raise RunInterrupted(f"stopped; {kept() or 'nothing was begun'}")


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


DISTRIBUTION = "rag-strategy-arena"
PACKAGES = ("arena", "strategies", "indexing", "experiments")
GROUPS = ("arena.datasets", "arena.strategies")  # written out: a start need not load what they add to
"""Groups of entry points through which other packages add to this one."""
_CACHE_BYTES_NEEDED = 1_000_000_000


@dataclass(frozen=True, slots=True)
class EnvironmentCheck:
    """One check: what was looked at, whether it is sound, and what was seen or what to do."""

    subject: str
    sound: bool
    detail: str


def examine() -> list[EnvironmentCheck]:
    """All checks, in the order in which a user should mend them."""
    return [
        *collisions(packages_distributions()),
        *shadows(Path.cwd()),
        *(EnvironmentCheck("plug-in", False, text) for text in unknown_groups(entry_points().groups)),
        _cache(cache_dir()),
        *_weights(),
    ]


def report(findings: Iterable[EnvironmentCheck], console: Console) -> bool:
    """Print one line per finding; True when all are sound."""
    findings = list(findings)
    for finding in findings:
        mark = "ok  " if finding.sound else "BAD "
        console.print(f"{mark} {finding.subject}: {finding.detail}", markup=False, highlight=False, soft_wrap=True)
    return all(finding.sound for finding in findings)


def collisions(providers: Mapping[str, Iterable[str]]) -> list[EnvironmentCheck]:
    """Whether each of our packages comes from our distribution alone.

    Args:
        providers: package -> distributions that provide it, as `importlib.metadata.packages_distributions`.
    """
    findings = []
    for package in PACKAGES:
        others = sorted(set(providers.get(package, ())) - {DISTRIBUTION})
        detail = f"also provided by {', '.join(others)}: uninstall it, then reinstall {DISTRIBUTION}"
        findings.append(
            EnvironmentCheck(f"package {package}", not others, detail if others else f"from {DISTRIBUTION} alone")
        )
    return findings


def shadows(folder: Path) -> list[EnvironmentCheck]:
    """What in `folder`, where Python looks first, stands before our packages: an own script there gets it instead."""
    findings = []
    for package in PACKAGES:
        places = [place for place in (folder / package, folder / f"{package}.py") if place.exists()]
        found = find_spec(package)
        ours = {Path(place).resolve() for place in (found and found.submodule_search_locations) or ()}
        for place in places:
            if place.resolve() not in ours and (place.is_file() or (place / "__init__.py").exists()):
                detail = f"{str(place)!r} hides our package from Python started here: rename it, or work elsewhere"
                findings.append(EnvironmentCheck(f"package {package}", False, detail))
    return findings


def unknown_groups(groups: Iterable[str]) -> list[str]:
    """What to say of each group of entry points that looks like ours and is not: its plug-ins are never used."""
    return [
        f"an installed package has plug-ins in {group!r}, and there is no such group: known are {', '.join(GROUPS)}"
        for group in sorted(groups)
        if group.startswith("arena.") and group not in GROUPS
    ]


def _cache(folder: Path) -> EnvironmentCheck:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".doctor"
        probe.touch()
        probe.unlink()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return EnvironmentCheck(
            "cache", False, f"cannot write to {str(folder)!r} ({error.strerror}): set ARENA_CACHE elsewhere"
        )
    enough = free > _CACHE_BYTES_NEEDED
    return EnvironmentCheck("cache", enough, f"{folder}, {free / 1e9:.1f} GB free" + ("" if enough else ": make room"))


def _weights() -> list[EnvironmentCheck]:
    from indexing.weights import list_models

    try:
        listed = list_models(cache_folder("weights"))
    except UserError as error:
        return [EnvironmentCheck("weights", False, str(error))]
    return [
        EnvironmentCheck(
            f"weights {one.model.name}", True, str(one.path) if one.path else "not here yet; fetched on first use"
        )
        for one in listed
    ]
