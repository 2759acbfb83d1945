"""A run folder.

RUNS_DIR/RUN_ID/
    manifest.json      what was run, on what, with which versions; status running | stopped | finished
    plan.json          which cells are asked which questions (arena.plan)
    records.jsonl      the journal (arena.store.journal) of what happened; in input order once the run is finished
    superseded.jsonl   records of failures that were asked again: out of the scores, and paid all the same
    verdicts.jsonl     the journal of what judges said of the records
    paid.jsonl         the ledger of all attempts that were paid for, written ahead (arena.store.paid)
    probe.jsonl        the journal of the latency probe; no part of the results
    labels.jsonl       labels by people, as they were handed in or as the majority of reviewers has it
    review.jsonl       what reviewers said of the answers
    calls.jsonl        every model call, one a line, derived from the journals
    scores.parquet     every metric of every question, derived
    questions.parquet  every question of every cell, derived
    leaderboard.json   the table (arena.leaderboard.build.Leaderboard), derived
    report.html        the run as one page, derived
    run.lock           held by the one process that writes
"""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, TypeVar

from arena.config import fingerprint
from arena.errors import RunStoreError
from arena.files import file_sha256, parse_json
from arena.plan import Key, RunPlan, read_plan
from arena.store.files import (
    LOCK,
    RunLock,
    call_lines,
    read_table,
    read_text,
    replace,
    replace_json,
    replace_text,
    write_table,
)
from arena.store.journal import (
    PAID_LINES,
    RECORD_LINES,
    VERDICT_LINES,
    JournalWriter,
    Line,
    LineFormat,
    encode,
    entries,
    record_of,
    scan,
)
from arena.store.paid import PaidLedger, open_ledger
from arena.store.survey import Survey, seal, seal_verdicts, survey
from arena.types import PaidAttempt, RunRecord, Verdict

MANIFEST, PLAN, RECORDS, SUPERSEDED = "manifest.json", "plan.json", "records.jsonl", "superseded.jsonl"
VERDICTS, PROBE, LABELS, REVIEW = "verdicts.jsonl", "probe.jsonl", "labels.jsonl", "review.jsonl"
CALLS, SCORES, QUESTIONS, LEADERBOARD = "calls.jsonl", "scores.parquet", "questions.parquet", "leaderboard.json"
REPORT, PAID = "report.html", "paid.jsonl"

RUNNING, STOPPED, FINISHED = "running", "stopped", "finished"
"""Status in the manifest. A killed run stays at `running`; only `finished` has nothing left to ask."""

SEAL = "seal"
"""Key of the manifest: a fingerprint of all the rest of it, made with every writing and looked at by `arena verify`."""

KEPT = "kept"
"""Key of the manifest: file -> SHA-256, of what people handed in and nothing can derive."""

LINES = "lines"
"""Key of the manifest: cell key -> the `run` that the cell's journal lines name."""

T = TypeVar("T")

_PARTS: Mapping[str, type] = {"status": str, "started": str, "config": dict, "identity": dict}


def key_of(record: RunRecord) -> Key:
    """The record's place in a run."""
    return record.cell.key, record.question_id


def _seal_of(manifest: Mapping[str, Any]) -> str:
    """As JSON has it: its keys are texts, and a tuple is a list."""
    return fingerprint("seal", json.loads(json.dumps({key: value for key, value in manifest.items() if key != SEAL})))


def _is_left_by_a_kill(name: str) -> bool:
    """Whether the file is one that a run leaves before it has a manifest, and so before it has begun."""
    return name in (LOCK, PLAN) or (name.startswith(".") and name.endswith(".part"))


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


class RunStore:
    """One run folder. What writes takes the folder's lock, which one process holds at a time; reading needs none.

    `data_at`: the spec of the run's dataset where it lies now (None: where the run's settings say).
    """

    def __init__(self, folder: Path, data_at: str | None = None) -> None:
        self.folder = folder
        self.data_at = data_at
        self._lock = RunLock(folder)
        self._surveys: dict[str, tuple[object, Survey]] = {}

    @classmethod
    def open(cls, folder: Path, data_at: str | None = None) -> RunStore:
        """An existing run."""
        if not (folder / MANIFEST).is_file():
            raise RunStoreError(f"no run in {str(folder)!r}: a run folder holds {MANIFEST}")
        return cls(folder, data_at)

    @property
    def run_id(self) -> str:
        """The folder's name; bytes of it that are no UTF-8 are written out, so that it can be shown anywhere."""
        return os.fsencode(self.folder.name).decode("utf-8", "backslashreplace")

    @property
    def records_path(self) -> Path:
        return self.folder / RECORDS

    @contextmanager
    def creating(self, manifest: Mapping[str, Any], plan: RunPlan | None = None) -> Iterator[JournalWriter[RunRecord]]:
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
        with self.holding():
            if not all(_is_left_by_a_kill(entry.name) for entry in self.folder.iterdir()):
                raise RunStoreError(
                    f"run {self.run_id!r} exists in {str(self.folder.parent)!r}: continue it with --resume --run-id "
                    f"{self.run_id}, or choose another --run-id"
                )
            if plan is not None:
                self.write_plan(plan)
            # The manifest last: it makes the folder a run, and a start that was killed before it can be repeated.
            self.write_manifest(manifest)
            with self.writing() as writer:
                yield writer

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold the folder; a second process is refused, not queued."""
        with self._lock.held():
            yield

    def writing(self) -> AbstractContextManager[JournalWriter[RunRecord]]:
        """Hold the folder and its journal of records."""
        return self._appending(RECORDS, RECORD_LINES)

    def judging(self) -> AbstractContextManager[JournalWriter[Verdict]]:
        """Hold the folder and its journal of verdicts."""
        return self._appending(VERDICTS, VERDICT_LINES)

    def probing(self) -> AbstractContextManager[JournalWriter[RunRecord]]:
        """Hold the folder and the journal of its latency probe."""
        return self._appending(PROBE, RECORD_LINES)

    @contextmanager
    def paying(self, before: PaidAttempt | None = None) -> Iterator[PaidLedger]:
        """Hold the folder and its ledger of payments; `before` is the first line of one that is made now."""
        with self.holding():
            if before is not None and not self.keeps_payments():
                self.write_journal(PAID, [encode(before, PAID_LINES)])
            with open_ledger(self.folder / PAID, self.run_id) as ledger:
                yield ledger

    @contextmanager
    def _appending(self, name: str, lines: LineFormat[T]) -> Iterator[JournalWriter[T]]:
        with self.holding():
            end = self._survey(name).end
            with JournalWriter(self.folder / name, lines, self.lines(), end=end) as writer:
                yield writer

    def manifest(self) -> dict[str, Any]:
        """The manifest as written.

        Raises:
            RunStoreError: it cannot be read, or is none.
        """
        try:
            content = parse_json(read_text(self.folder / MANIFEST))
        except ValueError as error:
            raise RunStoreError(
                f"{MANIFEST} of run {self.run_id!r} is damaged, and no JSON ({error}); restore a copy"
            ) from error
        if not isinstance(content, dict) or any(not isinstance(content.get(key), _PARTS[key]) for key in _PARTS):
            raise RunStoreError(
                f"{MANIFEST} of run {self.run_id!r} is damaged: it must hold {', '.join(_PARTS)}; restore a copy"
            )
        if not _is_time(content["started"]):
            raise RunStoreError(
                f"{MANIFEST} of run {self.run_id!r} is damaged: started is {content['started']!r}, which is no time; "
                "restore a copy"
            )
        content.pop(SEAL, None)
        return content

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        replace_json(self.folder / MANIFEST, {**manifest, SEAL: _seal_of(manifest)})

    def is_sealed(self) -> bool | None:
        """Whether the manifest is as it was written; None: by a version that put no seal on it."""
        seal = parse_json(read_text(self.folder / MANIFEST)).get(SEAL)
        return None if seal is None else bool(seal == _seal_of(self.manifest()))

    def note_kept(self, *names: str) -> None:
        """Let the manifest say what these files hold now. Whoever calls holds the folder."""
        hashes = {name: file_sha256(self.folder / name) for name in names}
        manifest = self.manifest()
        self.write_manifest(manifest | {KEPT: manifest.get(KEPT, {}) | hashes})

    def lines(self) -> dict[str, str] | None:
        """Cell key -> what the cell's journal lines name as their run (None: the manifest does not say)."""
        return self.manifest().get(LINES)

    def plan(self) -> RunPlan:
        """What this folder is to hold: of a shard, its share alone.

        Raises:
            RunStoreError: it cannot be read, or there is none.
        """
        return self.whole_plan().share()

    def whole_plan(self) -> RunPlan:
        """What all shards of the run together are to hold. Raises as `plan`."""
        return read_plan(read_text(self.folder / PLAN), f"{PLAN} of run {self.run_id!r}")

    def write_plan(self, plan: RunPlan) -> None:
        replace_json(self.folder / PLAN, plan.to_json())

    def records(self) -> Iterator[RunRecord]:
        """The records, the newest of every key, in the order of the file."""
        return self._newest(RECORDS, RECORD_LINES)

    def verdicts(self) -> Iterator[Verdict]:
        """The judges' verdicts, the newest of every key, in the order of the file."""
        return self._newest(VERDICTS, VERDICT_LINES)

    def every_verdict(self) -> Iterator[Verdict]:
        """The verdicts, those that were asked for again included: all that was paid."""
        return entries(self.folder / VERDICTS, VERDICT_LINES)

    def probe_records(self) -> Iterator[RunRecord]:
        """The records of the latency probe."""
        return self._newest(PROBE, RECORD_LINES)

    def superseded(self) -> Iterator[RunRecord]:
        """The records that were asked again later, each once: no part of the results, and of the bill."""
        return (record_of(self.records_path, line, RECORD_LINES) for line in self.older_lines())

    def keeps_payments(self) -> bool:
        """Whether there is a ledger of payments; runs of earlier versions have none."""
        return (self.folder / PAID).exists()

    def paid(self) -> Iterator[PaidAttempt]:
        """All attempts that were paid for, each once, in the order in which they came back."""
        return (record_of(self.folder / PAID, line, PAID_LINES) for line in self.paid_lines())

    def paid_lines(self) -> Iterator[Line]:
        """The lines of `paid`, not yet read as attempts. One that a copy or a joining of files doubled comes once."""
        seen = set()  # of keys: equal attempts have an entry each, a doubled line has the same
        for line in scan(self.folder / PAID):
            if line.key not in seen:
                seen.add(line.key)
                yield line

    def older_lines(self) -> Iterator[Line]:
        """The lines of `superseded`, not yet read as records."""
        if not (self.folder / MANIFEST).exists():
            return iter(())
        path, found = self.folder / SUPERSEDED, self._survey(RECORDS)
        known = {line.text for line in scan(path, self.lines())}
        left = (line for line in scan(self.records_path) if found.is_older(line, known))
        return chain(scan(path), left if found.older else ())

    def newest_lines(self, name: str) -> Iterator[Line]:
        """The lines of the journal `name` that count, not yet read as records."""
        found = self._survey(name)
        return (line for line in scan(self.folder / name) if found.counts(line))

    def write_journal(self, name: str, lines: Iterable[bytes]) -> None:
        """Make the journal `name` of lines of other runs, at once."""
        replace(self.folder / name, lambda out: out.writelines(lines))

    def _newest(self, name: str, lines: LineFormat[T], *, holding: bytes = b"") -> Iterator[T]:
        found = self._survey(name)
        return entries(self.folder / name, lines, wanted=lambda line: holding in line.text and found.counts(line))

    def _survey(self, name: str) -> Survey:
        """What the journal `name` holds, read through anew where it has changed since the last time."""
        path = self.folder / name
        if not path.exists():
            return Survey()
        lines = self.lines()
        try:
            status = path.stat()
        except OSError:
            return survey(path, lines)
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns, lines)
        if name not in self._surveys or self._surveys[name][0] != stamp:
            self._surveys[name] = (stamp, survey(path, lines))
        return self._surveys[name][1]

    def done(self) -> set[Key]:
        """Which (cell, question) pairs have a record."""
        return {(key[0], key[1]) for key in self._survey(RECORDS).newest}

    def failed(self) -> set[Key]:
        """Which (cell, question) pairs have a record of a failure."""
        likely = self._newest(RECORDS, RECORD_LINES, holding=b'"outcome":"failed"')
        return {key_of(record) for record in likely if record.outcome == "failed"}

    def seal(self, order: Sequence[Key]) -> None:
        """Put records and verdicts in the order of `order`, and what is superseded beside them (`arena.store.survey`).

        While a run goes on, records are appended as they finish; this makes finished journals the same at any
        concurrency.
        """
        lines = self.lines()
        seal(self.records_path, self.folder / SUPERSEDED, order, self._survey(RECORDS), lines)
        seal_verdicts(self.folder / VERDICTS, order, lines)

    def write_calls(self) -> None:
        """Derive calls.jsonl, the ledger of all that was asked of the contestants' models."""

        def write(out: BinaryIO) -> None:
            out.writelines(call_lines(self.records()))
            out.writelines(call_lines(self.superseded(), superseded=True))

        replace(self.folder / CALLS, write)

    def write_table(
        self, name: str, columns: Mapping[str, Sequence[object]], types: Mapping[str, type] = MappingProxyType({})
    ) -> None:
        """Write a table as `name`, one of SCORES and QUESTIONS. See `arena.store.files.write_table`."""
        write_table(self.folder / name, columns, types)

    def read_table(self, name: str, names: Sequence[str] | None = None) -> dict[str, list[Any]]:
        """The columns `names` (None: all) of the table `name`."""
        return read_table(self.folder / name, names)

    def write_leaderboard(self, leaderboard_json: str) -> None:
        replace_text(self.folder / LEADERBOARD, leaderboard_json + "\n")

    def leaderboard_json(self) -> str:
        """leaderboard.json as text: JSON, with no number that a page cannot show. Raises `RunStoreError` for other."""
        text = read_text(self.folder / LEADERBOARD, derived=True)
        try:
            parse_json(text)
        except ValueError as error:
            raise RunStoreError(
                f"{LEADERBOARD} of run {self.run_id!r} is damaged, and no JSON ({error}); derive it anew with arena "
                f"score {shlex.quote(str(self.folder))}"
            ) from error
        return text

    def write_labels(self, text: str) -> None:
        """Keep people's labels."""
        replace_text(self.folder / LABELS, text)

    def labels_text(self) -> str | None:
        """labels.jsonl as text; None: there are none."""
        path = self.folder / LABELS
        return read_text(path) if path.exists() else None
