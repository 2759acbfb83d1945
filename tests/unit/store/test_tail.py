from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import RunStoreError
from arena.store.journal import RECORD_LINES, encode
from arena.store.runs import RecordTail
from tests.samples import answered

LINES = [encode(answered(f"q{number}", "x"), RECORD_LINES) for number in range(4)]


def ids(tail: RecordTail) -> list[str]:
    return [record.question_id for record in tail.new_records()]


def test_each_look_reads_whole_lines_that_are_new(tmp_path: Path) -> None:
    journal, tail = tmp_path / "records.jsonl", RecordTail(tmp_path)
    assert (tail.restarted(), ids(tail)) == (False, [])
    journal.write_bytes(LINES[0] + LINES[1][:40])
    assert (tail.restarted(), ids(tail)) == (False, ["q0"])
    journal.write_bytes(LINES[0] + LINES[1] + LINES[2])
    assert (tail.restarted(), ids(tail), ids(tail)) == (False, ["q1", "q2"], [])


def test_a_journal_that_was_put_in_its_place_is_read_from_its_start(tmp_path: Path) -> None:
    journal, tail = tmp_path / "records.jsonl", RecordTail(tmp_path)
    journal.write_bytes(LINES[0] + LINES[1])
    assert (tail.restarted(), ids(tail)) == (False, ["q0", "q1"])
    (tmp_path / "new").write_bytes(LINES[1] + LINES[0] + LINES[2])
    (tmp_path / "new").replace(journal)
    assert (tail.restarted(), ids(tail)) == (True, ["q1", "q0", "q2"])
    journal.write_bytes(LINES[3])
    assert (tail.restarted(), ids(tail)) == (True, ["q3"])


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    tail = RecordTail(tmp_path)
    (tmp_path / "records.jsonl").write_bytes(LINES[0] + LINES[1].replace(b"q1", b"qX") + LINES[2])
    with pytest.raises(RunStoreError, match="line 2: damaged"):
        ids(tail)
