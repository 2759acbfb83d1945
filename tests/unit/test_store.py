from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from arena.errors import RunStoreError
from arena.store import RunStore, key_of, latest_run
from arena.types import Score
from tests.samples import answered, cell, failed

MANIFEST = {"started": "2026-01-01T00:00:00+00:00", "status": "running", "config": {}, "identity": {}}


def new(tmp_path: Path, run_id: str = "r1", **manifest: object) -> RunStore:
    store = RunStore(tmp_path / run_id)
    with store.creating(MANIFEST | manifest):
        pass
    return store


def test_a_run_id_is_used_once(tmp_path: Path) -> None:
    store = new(tmp_path)
    with pytest.raises(RunStoreError, match="--resume --run-id r1"), store.creating(MANIFEST):
        pass


@pytest.mark.parametrize("left", ["records.jsonl", "manifest.json", "notes.txt"])
def test_a_folder_that_holds_anything_is_never_taken_for_a_new_run(tmp_path: Path, left: str) -> None:
    (tmp_path / "r1").mkdir()
    (tmp_path / "r1" / left).write_text("precious")
    with pytest.raises(RunStoreError, match="exists"), RunStore(tmp_path / "r1").creating(MANIFEST):
        pass
    assert (tmp_path / "r1" / left).read_text() == "precious"


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b'{"config": 5}', b"\xff", b"{"])
def test_a_damaged_manifest_is_named_and_hides_no_other_run(tmp_path: Path, content: bytes) -> None:
    broken, sound = new(tmp_path, "broken", started="2026-02-01"), new(tmp_path, "sound")
    (broken.folder / "manifest.json").write_bytes(content)
    with pytest.raises(RunStoreError, match=r"manifest\.json of run 'broken'"):
        broken.manifest()
    assert latest_run(tmp_path, unfinished=True).run_id == sound.run_id


def test_a_journal_that_is_deleted_stops_the_run_at_once(tmp_path: Path) -> None:
    store = new(tmp_path)
    with store.writing() as writer:
        writer.append(answered("q1", "x"))
        store.records_path.unlink()
        with pytest.raises(RunStoreError, match="was deleted"):
            writer.append(answered("q2", "x"))


def test_sealing_puts_records_in_input_order_and_keeps_the_rest(tmp_path: Path) -> None:
    store = new(tmp_path)
    records = [answered(name, "x") for name in ("q3", "q1", "extra", "q2")]
    with store.writing() as writer:
        for record in records:
            writer.append(record)
    store.seal([(cell().key, name) for name in ("q1", "q2", "q3", "never asked")])
    assert [record.question_id for record in store.records()] == ["q1", "q2", "q3", "extra"]
    assert store.done() == {key_of(record) for record in records}


def test_a_sealed_journal_does_not_depend_on_the_order_of_finishing(tmp_path: Path) -> None:
    contents = set()
    for run_id, names in (("a", ("q1", "q2", "q3")), ("b", ("q3", "q1", "q2"))):
        store = new(tmp_path, run_id)
        with store.writing() as writer:
            for name in names:
                writer.append(answered(name, "x"))
        store.seal([(cell().key, name) for name in ("q1", "q2", "q3")])
        contents.add(store.records_path.read_bytes())
    assert len(contents) == 1


def test_calls_carry_their_cell_and_question(tmp_path: Path) -> None:
    store = new(tmp_path)
    with store.writing() as writer:
        writer.append(answered("q1", "x"))
        writer.append(failed("q2"))
    store.write_calls()
    lines = [json.loads(line) for line in (store.folder / "calls.jsonl").read_text().splitlines()]
    assert [(line["question_id"], line["input_tokens"], line["error"]) for line in lines] == [
        ("q1", 100, None),
        ("q2", None, "HTTP 500"),
    ]
    assert {line["cell"] for line in lines} == {cell().key}


def test_scores_keep_the_difference_between_zero_and_none(tmp_path: Path) -> None:
    store = new(tmp_path)
    store.write_scores([("c", "q1", Score("mrr", 0.0)), ("c", "q2", Score("mrr", None, "no_gold"))])
    table = pq.read_table(store.folder / "scores.parquet").to_pydict()
    assert table["value"] == [0.0, None]
    assert table["reason"] == [None, "no_gold"]


def _try_to_write(folder: Path, answer: multiprocessing.Queue[str]) -> None:
    try:
        with RunStore(folder).writing():
            answer.put("wrote")
    except RunStoreError as error:
        answer.put(str(error))


def test_a_second_writing_process_is_refused(tmp_path: Path) -> None:
    store = new(tmp_path)
    spawn = multiprocessing.get_context("spawn")
    answer: multiprocessing.Queue[str] = spawn.Queue()
    with store.writing():
        other = spawn.Process(target=_try_to_write, args=(store.folder, answer))
        other.start()
        message = answer.get(timeout=60)
        other.join()
    assert "another process" in message


def test_latest_run_is_the_one_started_last(tmp_path: Path) -> None:
    new(tmp_path, "old", started="2026-01-01T00:00:00+00:00")
    new(tmp_path, "new", started="2026-01-02T00:00:00+00:00")
    new(tmp_path, "done", started="2026-01-03T00:00:00+00:00", status="finished")
    assert latest_run(tmp_path, unfinished=True).run_id == "new"
    assert latest_run(tmp_path).run_id == "done"


def test_no_run_is_an_error_that_says_where(tmp_path: Path) -> None:
    with pytest.raises(RunStoreError, match="no unfinished run"):
        latest_run(tmp_path, unfinished=True)
    with pytest.raises(RunStoreError, match="no run in"):
        RunStore.open(tmp_path / "nothing")


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(RunStoreError, match="--runs-dir"), RunStore(tmp_path / "file" / "r1").creating(MANIFEST):
        pass
