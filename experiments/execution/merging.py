"""`arena merge`: the journals of several processes' shares of one run, joined into one run folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from arena.config import fingerprint, validate_config
from arena.errors import RunStoreError
from arena.files import making_folder
from arena.leaderboard.build import Leaderboard
from arena.store import LABELS, PAID, PROBE, RECORDS, RUNNING, STOPPED, SUPERSEDED, VERDICTS, RunStore
from arena.store.runs import resume_command
from experiments.execution.budget import GIVEN_UP, paid_lines, paid_note
from experiments.execution.identity import differences
from experiments.execution.manifest import changed_between, check_version, listed
from experiments.execution.start import finish
from experiments.terminal.progress import Reporter

_SAME = ("identity", "seeds", "dataset")
"""Keys of the manifest that must be equal in all shares."""

_FINGERPRINTS = ("fingerprint", "lines")
"""Likewise; said only where nothing else tells how they differ."""

_SHOWN_CHARS = 120

_SAME_SETTINGS = ("judge", "prices", "latency_probe")
"""Settings beside the identity that decide what is derived."""


@dataclass(frozen=True, slots=True)
class MergedRun:
    """A run made of others. `missing`: cell -> planned questions without a record; with any, there is no `board`."""

    store: RunStore
    missing: dict[str, int]
    board: Leaderboard | None


def merged_folder(runs_dir: Path, run_id: str) -> Path:
    """Where a merged run goes. Raises `ConfigError` for a name that no run may have."""
    return runs_dir / str(validate_config({"run_id": run_id}, "--into").run_id)


def merge_runs(folders: Sequence[Path], into: Path, reporter: Reporter) -> MergedRun:
    """Join runs of one plan and one configuration into the run folder `into`, whole or not at all.

    If nothing is missing it is concluded, as if one process had asked everything; else it can be continued.

    Raises:
        RunStoreError: a folder holds no run, or one that is being written; they differ in settings or plan, or in what
            they recorded of one question; `into` exists.
    """
    stores = _opened(folders)
    with ExitStack() as held:
        for store in stores:
            held.enter_context(store.holding())
        _check_alike(stores)
        _make(stores, into, reporter)
    merged = RunStore(into)
    missing = _missing(merged)
    return MergedRun(merged, missing, None if missing else finish(merged, reporter))


def _make(stores: Sequence[RunStore], into: Path, reporter: Reporter) -> None:
    """Make the run folder `into` of what the runs hold, whole or not at all."""
    if into.exists():
        raise RunStoreError(
            f"run {into.name!r} exists in {str(into.parent)!r}: choose another name with --into, or go on with "
            f"that one: {resume_command(RunStore(into))}"
        )
    try:
        with making_folder(into) as part:
            _join(stores, RunStore(part), into, reporter)
    except OSError as error:
        raise RunStoreError(f"cannot write run folder {str(into)!r}: {error.strerror}") from error


def missing_text(merged: MergedRun) -> str:
    """What a merged run lacks, and how to ask for it."""
    store = merged.store
    cells = ", ".join(f"{number} of {cell}" for cell, number in merged.missing.items())
    return (
        f"{sum(merged.missing.values())} questions have no record ({cells}): nothing was scored. Merge the shares that "
        f"have them into another run, or ask for them with {resume_command(store)}"
    )


def _opened(folders: Sequence[Path]) -> list[RunStore]:
    """The runs, each once, the one that was started first in front."""
    stores = [RunStore.open(folder) for folder in dict.fromkeys(folder.resolve() for folder in folders)]
    if len(stores) < 2:
        raise RunStoreError("a merge takes two runs or more: name the folders of all shards")
    for store in stores:
        check_version(store)
    return sorted(stores, key=lambda store: (store.manifest()["started"], store.run_id))


def _check_alike(stores: Sequence[RunStore]) -> None:
    first, *others = stores
    one = _comparable(first)
    for other in others:
        another = _comparable(other)
        differing = differences(one, another) or differences(_fingerprints(first), _fingerprints(other))
        if differing:
            told = [line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]} ..." for line in differing]
            raise RunStoreError(
                f"runs {first.run_id!r} and {other.run_id!r} are no shares of one run, they differ in {listed(told)}. "
                "Merge runs of the same settings and questions only"
            )


def _comparable(store: RunStore) -> dict[str, Any]:
    manifest = store.manifest()
    settings = {name: manifest["config"].get(name) for name in _SAME_SETTINGS}
    cells = {
        planned.cell.key: f"{len(planned.question_ids)} questions, {fingerprint('ids', {'ids': planned.question_ids})}"
        for planned in store.whole_plan().cells
    }
    return {"cells": cells, "settings": settings} | {name: manifest[name] for name in _SAME}


def _fingerprints(store: RunStore) -> dict[str, Any]:
    manifest = store.manifest()
    return {name: manifest[name] for name in _FINGERPRINTS}


def _join(stores: Sequence[RunStore], target: RunStore, into: Path, reporter: Reporter) -> None:
    """Fill a folder with what the runs hold; its manifest comes last, and makes it a run."""
    target.write_plan(replace(stores[0].whole_plan(), shard=None))
    for name in (RECORDS, VERDICTS, PROBE):
        if any((store.folder / name).exists() for store in stores):
            target.write_journal(name, _union(stores, name))
    older = dict.fromkeys(line.text for store in stores for line in store.older_lines())
    if older:
        target.write_journal(SUPERSEDED, older)
    labels = dict.fromkeys(line for store in stores for line in (store.labels_text() or "").splitlines())
    if labels:
        target.write_labels("".join(f"{line}\n" for line in labels))
    target.write_journal(PAID, _payments(stores))
    target.write_manifest(_manifest(stores, into, reporter))
    target.write_manifest(target.manifest() | paid_note(target))
    if labels:
        target.note_kept(LABELS)


def _union(stores: Sequence[RunStore], name: str) -> Iterator[bytes]:
    """The lines of all journals of that name, equal ones once. Holds keys and checksums, not records."""
    taken: dict[tuple[str, ...], tuple[RunStore, int]] = {}
    for store in stores:
        for line in store.newest_lines(name):
            before = taken.setdefault(line.key, (store, hash(line.text)))
            if before[0] is store:
                yield line.text
            elif before[1] != hash(line.text):
                raise RunStoreError(
                    f"{name} of runs {before[0].run_id!r} and {store.run_id!r} differ in question {line.key[1]!r} of "
                    f"{line.key[0]}: it was asked twice, and merging would drop one. Leave one of the runs out"
                )


def _payments(stores: Sequence[RunStore]) -> Iterator[bytes]:
    """The lines of all ledgers of payments; one is in two of them only where a run was copied or merged before."""
    taken: set[bytes] = set()
    for store in stores:
        for line in paid_lines(store):
            digest = blake2b(line, digest_size=16).digest()
            if digest not in taken:
                taken.add(digest)
                yield line


def _manifest(stores: Sequence[RunStore], into: Path, reporter: Reporter) -> dict[str, Any]:
    """That of the run that was started first, with the sessions and warnings of all."""
    manifests = [store.manifest() for store in stores]
    first = manifests[0]
    warnings = [warning for manifest in manifests for warning in manifest["warnings"]]
    for store, manifest in zip(stores[1:], manifests[1:], strict=True):
        if changed := changed_between(first["libraries"], manifest["libraries"]):
            warnings.append(f"{store.run_id} ran with other libraries than {stores[0].run_id}: {'; '.join(changed)}")
            reporter.warn(warnings[-1])
    origins = [
        {"run_id": store.run_id, "shard": manifest["shard"], "records": len(store.done())}
        for store, manifest in zip(stores, manifests, strict=True)
    ]
    kept = {key: value for key, value in first.items() if key != GIVEN_UP}
    return kept | {
        "status": RUNNING,
        "finished": None,
        "config": first["config"] | {"runs_dir": str(into.parent), "run_id": into.name},
        "shard": None,
        "sessions": sorted(
            (one for each in manifests for one in each["sessions"]), key=lambda one: str(one["started"])
        ),
        "warnings": list(dict.fromkeys(warnings)),
        "merged": origins,
    }


def _missing(store: RunStore) -> dict[str, int]:
    counts: dict[str, int] = {}
    for cell, _ in set(store.plan().keys()) - store.done():
        counts[cell] = counts.get(cell, 0) + 1
    if counts:
        with store.holding():
            store.seal(store.plan().keys())
            store.write_manifest(store.manifest() | {"status": STOPPED})
    return dict(sorted(counts.items()))
