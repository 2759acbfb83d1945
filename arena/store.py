"""A run folder, and the only code that reads or writes its files.

RUNS_DIR/RUN_ID/
    manifest.json      what was run, on what, with which versions; status running | stopped | finished
    records.jsonl      the journal (arena.journal); in input order once the run is finished
    calls.jsonl        every model call, one a line, derived from the journal
    scores.parquet     every metric of every question, derived
    leaderboard.json   the table (arena.report.leaderboard.Leaderboard), derived
    run.lock           held by the one process that writes
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from arena import journal
from arena.errors import RunStoreError
from arena.types import LLMCall, RunRecord, Score

MANIFEST, RECORDS, CALLS = "manifest.json", "records.jsonl", "calls.jsonl"
SCORES, LEADERBOARD, LOCK = "scores.parquet", "leaderboard.json", "run.lock"

RUNNING, STOPPED, FINISHED = "running", "stopped", "finished"
"""Status in the manifest. A killed run stays at `running`; only `finished` has nothing left to ask."""

Key = tuple[str, str]
"""(cell key, question id): what makes a record one of its kind."""

_CALL = TypeAdapter(LLMCall)
_SUMS = (
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "reasoning_tokens",
    "queue_seconds",
    "service_seconds",
)
_PARTS: Mapping[str, type] = {"status": str, "started": str, "config": dict, "identity": dict}


def key_of(record: RunRecord) -> Key:
    """The record's place in a run."""
    return record.cell.key, record.question_id


class RunStore:
    """One run folder. Writing needs `writing` or `creating`; reading does not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def open(cls, folder: Path) -> RunStore:
        """An existing run."""
        if not (folder / MANIFEST).is_file():
            raise RunStoreError(f"no run in {str(folder)!r}: a run folder holds {MANIFEST}")
        return cls(folder)

    @property
    def run_id(self) -> str:
        return self.folder.name

    @property
    def records_path(self) -> Path:
        return self.folder / RECORDS

    @contextmanager
    def creating(self, manifest: Mapping[str, Any]) -> Iterator[journal.JournalWriter]:
        """Make this folder a new run's, and hold it as `writing` does.

        Raises:
            RunStoreError: it holds a run, or anything else, already; or it cannot be made or written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise RunStoreError(
                f"cannot write to run folder {str(self.folder)!r}: {error.strerror}; choose another with --runs-dir"
            ) from error
        with self._locked():
            if any(entry.name != LOCK for entry in self.folder.iterdir()):
                raise RunStoreError(
                    f"run {self.run_id!r} exists in {str(self.folder.parent)!r}: continue it with --resume --run-id "
                    f"{self.run_id}, or choose another --run-id"
                )
            self.write_manifest(manifest)
            with journal.JournalWriter(self.records_path) as writer:
                yield writer

    @contextmanager
    def writing(self) -> Iterator[journal.JournalWriter]:
        """Hold the folder and its journal; a second process is refused, not queued."""
        with self._locked(), journal.JournalWriter(self.records_path) as writer:
            yield writer

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = FileLock(self.folder / LOCK)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise RunStoreError(
                f"run {self.run_id!r} is being written by another process: wait for it, or choose another --run-id"
            ) from None
        except OSError as error:
            raise RunStoreError(f"cannot lock run folder {str(self.folder)!r}: {error.strerror}") from error
        try:
            yield
        finally:
            lock.release()

    def manifest(self) -> dict[str, Any]:
        """The manifest as written.

        Raises:
            RunStoreError: it cannot be read, or is none.
        """
        try:
            content = json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunStoreError(f"cannot read {MANIFEST} of run {self.run_id!r}: {error}") from error
        if not isinstance(content, dict) or any(not isinstance(content.get(key), _PARTS[key]) for key in _PARTS):
            raise RunStoreError(
                f"{MANIFEST} of run {self.run_id!r} is damaged: it must hold {', '.join(_PARTS)}; restore a copy"
            )
        return content

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        self._replace(MANIFEST, _pretty(manifest))

    def records(self) -> Iterator[RunRecord]:
        """The journal's records, in the order of the file."""
        return (entry.record for entry in journal.read(self.records_path))

    def done(self) -> set[Key]:
        """Which (cell, question) pairs have a record."""
        return {key_of(record) for record in self.records()}

    def seal(self, order: Sequence[Key]) -> None:
        """Rewrite the journal in the order of `order`, atomically.

        While a run goes on, records are appended as they finish; this makes a finished journal the same
        at any concurrency. Records outside `order` are kept, last. Holds offsets, not records.
        """
        spans = {key_of(entry.record): (entry.start, entry.end) for entry in journal.read(self.records_path)}
        listed = [spans.pop(key) for key in order if key in spans]

        def write(out: BinaryIO) -> None:
            with self.records_path.open("rb") as source:
                for start, end in [*listed, *spans.values()]:
                    source.seek(start)
                    out.write(source.read(end - start))

        self._replace(RECORDS, write)

    def write_calls(self) -> None:
        """Derive calls.jsonl: each ledger entry with its cell, its question and the sums over its attempts."""

        def write(out: BinaryIO) -> None:
            for record in self.records():
                place = {"cell": record.cell.key, "question_id": record.question_id}
                for call in record.calls:
                    sums = {name: getattr(call, name) for name in _SUMS}
                    line = json.dumps(place | sums | _CALL.dump_python(call, mode="json"), ensure_ascii=False)
                    out.write(line.encode() + b"\n")

        self._replace(CALLS, write)

    def write_scores(self, scores: Iterable[tuple[str, str, Score]]) -> None:
        """Write scores.parquet from (cell key, question id, score) rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = list(scores)
        table = pa.table(
            {
                "cell": pa.array([cell for cell, _, _ in rows], pa.string()),
                "question_id": pa.array([question for _, question, _ in rows], pa.string()),
                "metric": pa.array([score.metric for _, _, score in rows], pa.string()),
                "value": pa.array([score.value for _, _, score in rows], pa.float64()),
                "reason": pa.array([score.reason for _, _, score in rows], pa.string()),
            }
        )
        self._replace(SCORES, lambda out: pq.write_table(table, out))

    def write_leaderboard(self, leaderboard_json: str) -> None:
        self._replace(LEADERBOARD, lambda out: out.write(leaderboard_json.encode() + b"\n"))

    def leaderboard_json(self) -> str:
        """leaderboard.json as text."""
        try:
            return (self.folder / LEADERBOARD).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RunStoreError(f"run {self.run_id!r} has no readable {LEADERBOARD}: {error}") from error

    def _replace(self, name: str, write: Callable[[BinaryIO], object]) -> None:
        """Write a file whole or not at all."""
        target = self.folder / name
        part = target.with_name(f".{name}.part")
        try:
            with part.open("wb") as out:
                write(out)
                out.flush()
                os.fsync(out.fileno())
            part.replace(target)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise RunStoreError(
                f"cannot write {str(target)!r}: {error.strerror}; the run's records are kept"
            ) from error


def _pretty(content: Mapping[str, Any]) -> Callable[[BinaryIO], object]:
    text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=False) + "\n"
    return lambda out: out.write(text.encode())


def latest_run(runs_dir: Path, *, unfinished: bool = False) -> RunStore:
    """The run most recently started in `runs_dir`; with `unfinished`, of those that can be continued.

    Raises:
        RunStoreError: there is none.
    """
    started: list[tuple[str, str, RunStore]] = []
    for path in runs_dir.glob(f"*/{MANIFEST}"):
        store = RunStore(path.parent)
        with suppress(RunStoreError):  # a damaged run is no candidate, and no obstacle to the others
            manifest = store.manifest()
            if not unfinished or manifest["status"] != FINISHED:
                started.append((manifest["started"], store.run_id, store))
    if not started:
        raise RunStoreError(f"no {'unfinished ' if unfinished else ''}run in {str(runs_dir)!r}")
    return max(started, key=lambda run: run[:2])[2]
