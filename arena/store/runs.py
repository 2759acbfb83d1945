"""Find the runs of a folder, follow a journal that grows, and read and write review.jsonl.

Where no run is named, the latest is meant. A growing journal is read on from where
the last look ended. review.jsonl has one rating a line and is written whole.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from arena.errors import ConfigError, RunStoreError
from arena.files import open_regular
from arena.store.files import read_text, replace_text
from arena.store.folder import FINISHED, MANIFEST, RECORDS, REVIEW, RunStore
from arena.store.journal import RECORD_LINES, decode, record_of, scan
from arena.types import RunRecord


class RecordTail:
    """The records of a run folder, from the last one that was read. Takes no lock and writes nothing."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / RECORDS
        self._inode: int | None = None
        self._end = 0
        self._lines = 0

    def restarted(self) -> bool:
        """Whether the journal is another than the one read so far, as after sealing; then it is read from its start."""
        try:
            status = self._path.stat()
        except OSError:
            return False
        # Sealing puts another file in its place; one that became shorter lost the line that a kill had cut.
        known, self._inode = self._inode, status.st_ino
        if known is None or (known == status.st_ino and status.st_size >= self._end):
            return False
        self._end = self._lines = 0
        return True

    def new_records(self) -> Iterator[RunRecord]:
        """The records of whole lines since the last call, in the order written; a key may come more than once.

        Raises:
            RunStoreError: a line is damaged, or the journal cannot be read.
        """
        try:
            with open_regular(self._path) as file:
                file.seek(self._end)
                for text in file:
                    if not text.endswith(b"\n"):
                        return
                    line = decode(text, self._lines + 1, self._end)
                    if line is None:
                        self._name_damage()
                        return
                    record = record_of(self._path, line, RECORD_LINES)
                    self._end, self._lines = line.end, line.number
                    yield record
        except FileNotFoundError:
            return
        except OSError as error:
            raise RunStoreError(f"cannot read the journal {str(self._path)!r}: {error.strerror}") from error

    def _name_damage(self) -> None:
        """Let the reader of whole journals say which line is damaged."""
        for _ in scan(self._path):
            pass


def started_runs(runs_dir: Path, *, finished: bool | None = None, dataset: str | None = None) -> list[RunStore]:
    """The runs in `runs_dir`, the last started one first; a damaged run is left out.

    `finished`: only those that are, or that are not. `dataset`: only those on data of that fingerprint.
    """
    found: list[tuple[str, str, RunStore]] = []
    for path in runs_dir.glob(f"[!.]*/{MANIFEST}"):  # what begins with a dot is half made
        store = RunStore(path.parent)
        with suppress(RunStoreError):
            manifest = store.manifest()
            if finished in (None, manifest["status"] == FINISHED) and dataset in (
                None,
                manifest["identity"].get("dataset"),
            ):
                found.append((manifest["started"], store.run_id, store))
    return [store for _, _, store in sorted(found, key=lambda run: run[:2], reverse=True)]


def latest_run(runs_dir: Path, *, unfinished: bool = False) -> RunStore:
    """The run most recently started in `runs_dir`; with `unfinished`, of those that can be continued.

    Raises:
        RunStoreError: there is none.
    """
    found = started_runs(runs_dir, finished=False if unfinished else None)
    if not found:
        raise RunStoreError(f"no {'unfinished ' if unfinished else ''}run in {str(runs_dir)!r}")
    return found[0]


def require_finished(store: RunStore, then: str) -> None:
    """Raise `RunStoreError` for a run that is not finished. `then`: what is done with a finished one."""
    if store.manifest()["status"] != FINISHED:
        raise RunStoreError(f"run {store.run_id!r} is not finished: go on with {resume_command(store)}, then {then}")


IMPORTED = "imported"
"""Key of a contestant's identity: SHA-256 of the file that its records were read from; no code of it is known."""

SYSTEM = "system"
"""Key of a contestant's identity: how a system of the user's own is asked; its code is not the arena's."""


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
        # Code is named again by whoever lets it run.
        return " ".join(("arena run --resume", place, *code_options(code_named(manifest["config"]))))
    return f"arena run --resume {place}"


_SYSTEMS = "systems."

_TRUSTED = ("embedding", "rerank")
"""Parts of the settings with a `trust_remote_code`."""


def code_named(settings: Mapping[str, Any]) -> dict[str, str]:
    """The settings that let code run which is not ours, or a key go to an address: dotted name -> value."""
    tool = (settings.get("external") or {}).get("tool")
    found = {} if tool is None else {"external.tool": str(tool)}
    for name, system in (settings.get("systems") or {}).items():
        # A folder may be anyone's, and so may the address to which it would have a key sent.
        kinds = ("python", "command", *(["http"] if system.get("api_key_variable") else ()))
        asked = {kind: system.get(kind) for kind in kinds}
        found |= {f"{_SYSTEMS}{name}.{kind}": _one_line(way) for kind, way in asked.items() if way is not None}
    trusted = (name for name in _TRUSTED if (settings.get(name) or {}).get("trust_remote_code"))
    return found | {f"{name}.trust_remote_code": "true" for name in trusted}


def code_options(named: Mapping[str, str]) -> list[str]:
    """What to type to let it run, each setting of `code_named` as an option of `arena run`."""
    found = []
    for setting, value in named.items():
        name, _, kind = setting.removeprefix(_SYSTEMS).rpartition(".")
        system = setting.startswith(_SYSTEMS)
        found.append(
            f"--system {shlex.quote(f'{name}={kind}:{value}')}" if system else f"--set {setting}={shlex.quote(value)}"
        )
    return found


def _one_line(way: Any) -> str:
    return shlex.join(map(str, way)) if isinstance(way, list | tuple) else str(way)


def refuse_code(store: RunStore, unasked: Mapping[str, str], instead: str) -> None:
    """A run folder may be anyone's: refuse what its settings name, and the user does not, to let run or send a key to.

    `unasked`: those of `code_named`; `instead`: what to type to let it run.
    """
    if unasked:
        named = ", ".join(f"{name} {value!r}" for name, value in unasked.items())
        raise ConfigError(
            f"the settings of run {store.run_id!r} let code run that is not the arena's, or have a key sent ({named}); "
            f"to go on, say that you trust it: {instead}"
        )


def way_on(store: RunStore, kept: str, command: str) -> str:
    """What a stopped run says: what is kept and the command that goes on, or that the folder is gone with all of it."""
    if not (store.folder / MANIFEST).exists():
        return f"run folder {str(store.folder)!r} is gone with all that was done: start a new run"
    return f"{kept}; continue with: {command}"


def review_text(folder: Path) -> str:
    """The file of a run folder as text; empty where nobody reviewed anything. Raises as `RunStore.labels_text`."""
    path = folder / REVIEW
    return read_text(path) if path.exists() else ""


def write_review(folder: Path, text: str) -> None:
    """Replace it. Whoever calls holds the folder."""
    replace_text(folder / REVIEW, text)
