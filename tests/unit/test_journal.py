from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from arena import journal
from arena.errors import RunStoreError
from arena.journal import JournalWriter
from tests.samples import answered, failed

RECORDS = [answered("q1", "Zürich \u2028 [1]", ("d1", "d2")), failed("q2"), answered("q3", "", abstained=True)]


def write(path: Path) -> None:
    with JournalWriter(path) as writer:
        for record in RECORDS:
            writer.append(record)


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path)
    assert [entry.record for entry in journal.read(path)] == RECORDS


def test_a_journal_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert list(journal.read(tmp_path / "none.jsonl")) == []


def test_a_torn_last_line_is_dropped_at_every_length_and_cut_off_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path)
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(whole)):
        path.write_bytes(whole[:cut])
        assert [entry.record for entry in journal.read(path)] == RECORDS[:-1]
    with JournalWriter(path) as writer:
        writer.append(RECORDS[-1])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("damage", [b"x", b"\x00", b"}"])
def test_a_damaged_line_in_the_middle_is_an_error_that_names_the_line(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "records.jsonl"
    write(path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:60] + damage + lines[1][61:]
    path.write_bytes(b"".join(lines))
    with pytest.raises(RunStoreError, match="line 2"):
        list(journal.read(path))


@pytest.mark.parametrize("damage", [b"garbage\n", b"{}\n", b"\n"])
def test_a_whole_line_that_is_damaged_is_an_error_also_when_it_is_the_last(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "records.jsonl"
    write(path)
    path.write_bytes(path.read_bytes() + damage)
    with pytest.raises(RunStoreError, match="line 4"):
        list(journal.read(path))
    with pytest.raises(RunStoreError, match="line 4"):
        JournalWriter(path)


def test_a_record_that_is_no_json_is_refused_and_leaves_the_journal_whole(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    with JournalWriter(path) as writer:
        writer.append(RECORDS[0])
        with pytest.raises(RunStoreError, match="'q9'"):
            writer.append(answered("q9", "\ud800"))
    assert [entry.record for entry in journal.read(path)] == RECORDS[:1]


def test_another_schema_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write(path)
    path.write_bytes(path.read_bytes().replace(b'"schema_version":2', b'"schema_version":9'))
    with pytest.raises(RunStoreError, match="schema version"):
        list(journal.read(path))


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from arena.errors import RunStoreError
from arena.journal import JournalWriter
from tests.samples import answered

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
with JournalWriter(Path(sys.argv[1])) as writer:
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
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    number, message = done.stdout.split(maxsplit=1)
    assert "Make room" in message
    assert len(list(journal.read(path))) == int(number) > 0
    assert path.read_bytes().endswith(b"}\n")
