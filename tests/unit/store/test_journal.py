from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import RunStoreError
from arena.store import journal
from arena.store.journal import RECORD_LINES, VERDICT_LINES, JournalWriter
from arena.types import CallAttempt, Hit, LLMCall, Retrieval, RetrievalRequest, RunRecord, Score, Verdict
from tests.samples import answered, cell, failed

RECORDS = [answered("q1", "Zürich \u2028 [1]", ("d1", "d2")), failed("q2"), answered("q3", "", abstained=True)]


RUNS = {cell().key: "line_here"}


def write(path: Path, runs: dict[str, str] | None = None) -> None:
    with JournalWriter(path, RECORD_LINES, runs) as writer:
        for record in RECORDS:
            writer.append(record)


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path)
    assert list(journal.entries(path, RECORD_LINES)) == RECORDS


def test_a_journal_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert list(journal.entries(tmp_path / "none.jsonl", RECORD_LINES)) == []


def test_a_scan_reads_keys_and_places_without_the_records(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, RUNS)
    lines = list(journal.scan(path, RUNS))
    assert [line.key for line in lines] == [(cell().key, name) for name in ("q1", "q2", "q3")]
    assert {line.run for line in lines} == {"line_here"}
    whole = path.read_bytes()
    assert b"".join(whole[line.start : line.end] for line in lines) == whole
    assert [json.loads(line.body)["question_id"] for line in lines] == ["q1", "q2", "q3"]


def test_a_line_is_json_that_names_its_run_its_key_and_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, RUNS)
    first = json.loads(path.read_bytes().splitlines()[0])
    assert list(first) == ["schema_version", "checksum", "run", "key", "record"]
    assert (first["schema_version"], first["run"], first["key"]) == (4, "line_here", [cell().key, "q1"])


@given(cut=st.integers(min_value=0))
@settings(max_examples=60)
def test_a_journal_cut_at_any_byte_keeps_exactly_its_whole_lines(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "records.jsonl"
    whole = b"".join(journal.encode(record, RECORD_LINES, "line_here") for record in RECORDS)
    kept = whole[: cut % (len(whole) + 1)]
    path.write_bytes(kept)
    n_whole = kept.count(b"\n")
    assert list(journal.entries(path, RECORD_LINES, RUNS)) == RECORDS[:n_whole]
    with JournalWriter(path, RECORD_LINES, RUNS) as writer:
        for record in RECORDS[n_whole:]:
            writer.append(record)
    assert path.read_bytes() == whole


@given(at=st.integers(min_value=0), byte=st.integers(min_value=0, max_value=255))
@settings(max_examples=300)
def test_no_changed_byte_is_ever_read_as_a_record(tmp_path: Path, at: int, byte: int) -> None:
    path = tmp_path / "records.jsonl"
    whole = b"".join(journal.encode(record, RECORD_LINES, "line_here") for record in RECORDS)
    place = at % len(whole)
    path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
    read: list[RunRecord] = []
    with suppress(RunStoreError):
        read.extend(journal.entries(path, RECORD_LINES, RUNS))
    assert read == RECORDS[: len(read)]
    assert (read == RECORDS) == (whole[place] == byte)


@pytest.mark.parametrize("damage", [b"x", b"\x00", b"}"])
def test_a_damaged_line_in_the_middle_is_an_error_that_names_the_line(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "records.jsonl"
    write(path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:60] + damage + lines[1][61:]
    path.write_bytes(b"".join(lines))
    with pytest.raises(RunStoreError, match="line 2"):
        list(journal.entries(path, RECORD_LINES))


@pytest.mark.parametrize("damage", [b"garbage\n", b"{}\n", b"\n"])
def test_a_whole_line_that_is_damaged_is_an_error_also_when_it_is_the_last(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "records.jsonl"
    write(path)
    path.write_bytes(path.read_bytes() + damage)
    with pytest.raises(RunStoreError, match="line 4"):
        list(journal.entries(path, RECORD_LINES))
    with pytest.raises(RunStoreError, match="line 4"):
        JournalWriter(path, RECORD_LINES)


def test_a_record_that_is_no_json_is_refused_and_leaves_the_journal_whole(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    with JournalWriter(path, RECORD_LINES) as writer:
        writer.append(RECORDS[0])
        with pytest.raises(RunStoreError, match="'q9'"):
            writer.append(answered("q9", "\ud800"))
    assert list(journal.entries(path, RECORD_LINES)) == RECORDS[:1]


def test_a_record_that_could_not_be_read_back_is_refused_and_leaves_the_journal_whole(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    hit = Hit("d1#0", "d1", 1, float("nan"))
    record = replace(RECORDS[0], retrievals=(Retrieval(RetrievalRequest("?", "dense", 1), (hit,)),))
    with JournalWriter(path, RECORD_LINES) as writer:
        writer.append(RECORDS[1])
        with pytest.raises(
            RunStoreError, match=r"'q1'.*could not be read back \(retrievals\.0\.hits\.0\.score is None"
        ):
            writer.append(record)
        writer.append(RECORDS[2])
    assert list(journal.entries(path, RECORD_LINES)) == RECORDS[1:]


@pytest.mark.parametrize("count", ["20.5", "-1", "1e30", "1" + "0" * 30, '"12"', "true", "[]"])
def test_a_count_that_an_older_version_wrote_as_it_came_is_read_as_unknown(tmp_path: Path, count: str) -> None:
    path = tmp_path / "records.jsonl"
    calls = (LLMCall("generate", "openai:m", "0", (CallAttempt(4711, 3, 2, 1),)),)
    with JournalWriter(path, RECORD_LINES) as writer:
        writer.append(replace(RECORDS[0], calls=calls))
    rest = path.read_bytes().rstrip(b"\n").partition(b'",')[2].replace(b"4711", count.encode())
    path.write_bytes(b'{"schema_version":4,"checksum":"%08x",%b\n' % (zlib.crc32(rest), rest))
    ((attempt,),) = [call.attempts for entry in journal.entries(path, RECORD_LINES) for call in entry.calls]
    assert attempt == CallAttempt(None, 3, 2, 1)


@pytest.mark.parametrize("version", [2, 9])
def test_another_schema_version_is_refused_by_its_number(tmp_path: Path, version: int) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(b'{"schema_version":%d,"checksum":"00000000","record":{}}\n' % version)
    with pytest.raises(RunStoreError, match=f"line 1: of schema version {version}, and this version reads 3 to 4"):
        list(journal.entries(path, RECORD_LINES))


def test_a_line_of_another_configuration_or_cell_is_refused_by_readers_and_writers(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path, {cell().key: "line_elsewhere"})
    for runs, message in ((RUNS, "line 1: mixed in from another configuration"), ({}, "does not have")):
        with pytest.raises(RunStoreError, match=message):
            list(journal.scan(path, runs))
        with pytest.raises(RunStoreError, match=message):
            JournalWriter(path, RECORD_LINES, runs)
    assert len(list(journal.scan(path))) == 3


def test_verdicts_are_lines_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    verdicts = [
        Verdict(cell().key, "q1", "faithfulness", "fake:", "j1", "s1", repeat, Score("faithfulness", None, "why"))
        for repeat in (0, 1)
    ]
    with JournalWriter(path, VERDICT_LINES, RUNS) as writer:
        for verdict in verdicts:
            writer.append(verdict)
    assert list(journal.entries(path, VERDICT_LINES, RUNS)) == verdicts
    assert len({line.key for line in journal.scan(path)}) == 2


def test_a_record_of_another_shape_is_named_although_its_line_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path)
    with pytest.raises(RunStoreError, match="line 1: whole, but no record"):
        list(journal.entries(path, VERDICT_LINES))


def test_what_someone_else_appended_is_never_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    with JournalWriter(path, RECORD_LINES) as writer:
        writer.append(RECORDS[0])
        with path.open("ab") as other:
            other.write(journal.encode(RECORDS[1], RECORD_LINES))
        with pytest.raises(RunStoreError, match="changed by someone else"):
            writer.append(RECORDS[2])
    assert list(journal.entries(path, RECORD_LINES)) == RECORDS[:2]


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from arena.errors import RunStoreError
from arena.store.journal import RECORD_LINES, JournalWriter
from tests.samples import answered

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
with JournalWriter(Path(sys.argv[1]), RECORD_LINES) as writer:
    for number in range(10_000):
        try:
            writer.append(answered(f"q{number}", "x"))
        except RunStoreError as error:
            print(number, error)
            break
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a file size limit to stand for a full disk")
def test_a_full_disk_leaves_a_readable_journal(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path), "20000"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
    )
    number, message = done.stdout.split(maxsplit=1)
    assert "Make room" in message
    assert len(list(journal.entries(path, RECORD_LINES))) == int(number) > 0
    assert path.read_bytes().endswith(b"}\n")
