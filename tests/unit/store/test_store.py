from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from arena.errors import RunStoreError
from arena.plan import PlannedCell, RunPlan, Shard
from arena.store import SCORES, RunStore, key_of
from arena.store.runs import latest_run
from arena.types import Score, Verdict
from tests.patience import PATIENCE_SECONDS
from tests.samples import answered, cell, failed

MANIFEST = {"started": "2026-01-01T00:00:00+00:00", "status": "running", "config": {}, "identity": {}}


def new(tmp_path: Path, run_id: str = "r1", **manifest: object) -> RunStore:
    store = RunStore(tmp_path / run_id)
    with store.creating(MANIFEST | manifest):
        pass
    return store


def verdict(question_id: str) -> Verdict:
    score = Score("faithfulness", 1.0)
    return Verdict(cell().key, question_id, "faithfulness", "fake:", "judge", "subject", 0, score)


def test_a_run_id_is_used_once(tmp_path: Path) -> None:
    store = new(tmp_path)
    with pytest.raises(RunStoreError, match="--resume --run-id r1"), store.creating(MANIFEST):
        pass


def test_whoever_holds_a_folder_may_write_every_file_of_it(tmp_path: Path) -> None:
    store = new(tmp_path)
    with store.holding(), store.writing() as records, store.judging() as verdicts, store.probing() as probe:
        records.append(answered("q1", "x"))
        verdicts.append(verdict("q1"))
        probe.append(answered("q1", "y"))
    assert list(store.records()) == [answered("q1", "x")]
    assert list(store.verdicts()) == [verdict("q1")]
    assert list(store.probe_records()) == [answered("q1", "y")]


def test_files_that_are_not_there_are_empty_or_named(tmp_path: Path) -> None:
    store = new(tmp_path)
    for journal in (store.verdicts(), store.probe_records(), store.superseded()):
        assert list(journal) == []
    assert store.labels_text() is None
    for read in (store.plan, store.leaderboard_json, lambda: store.read_table(SCORES)):
        with pytest.raises(RunStoreError, match=r"cannot read \w+\.(json|parquet) of run 'r1'"):
            read()


def test_of_what_cannot_be_read_it_is_said_how_to_have_it_again(tmp_path: Path) -> None:
    store = new(tmp_path)
    (store.folder / "labels.jsonl").write_bytes(b"\xff")
    for read, remedy in (
        (store.plan, "No such file or directory; restore a copy"),
        (store.labels_text, "restore a copy"),
        (store.leaderboard_json, "derive it anew with arena score"),
        (lambda: store.read_table(SCORES), "derive it anew with arena score"),
    ):
        with pytest.raises(RunStoreError) as caught:
            read()
        assert remedy in str(caught.value)


def test_a_shard_holds_the_whole_plan_and_plans_its_share(tmp_path: Path) -> None:
    store, names = new(tmp_path), tuple(f"q{number}" for number in range(40))
    for index in (1, 2, 3):
        plan = RunPlan((PlannedCell(cell(), names), PlannedCell(cell("ircot"), names[:20])), Shard(index, 3))
        store.write_plan(plan)
        assert store.whole_plan() == plan
        assert store.plan() == plan.share()


def test_lines_of_another_configuration_are_refused_by_all_who_read(tmp_path: Path) -> None:
    store = new(tmp_path, lines={cell().key: "line_here"})
    with store.writing() as writer:
        writer.append(answered("q1", "x"))
    store.write_manifest(store.manifest() | {"lines": {cell().key: "line_now"}})
    for read in (store.records, store.done, store.failed, lambda: store.writing().__enter__()):
        with pytest.raises(RunStoreError, match="mixed in from another configuration"):
            read()


def test_the_newest_record_of_a_key_counts_and_the_older_is_kept_beside(tmp_path: Path) -> None:
    store = new(tmp_path)
    with store.writing() as writer:
        for record in (failed("q1"), failed("q2"), answered("q1", "x")):
            writer.append(record)
    order = [(cell().key, name) for name in ("q1", "q2")]
    for _ in range(3):  # before it is sealed, after, and sealed twice
        assert sorted(store.records(), key=key_of) == [answered("q1", "x"), failed("q2")]
        assert list(store.superseded()) == [failed("q1")]
        assert store.failed() == {(cell().key, "q2")}
        store.seal(order)
    assert store.records_path.read_bytes().count(b"\n") == 2


def test_a_kill_while_sealing_counts_nothing_twice(tmp_path: Path) -> None:
    store = new(tmp_path)
    with store.writing() as writer:
        for record in (failed("q1"), answered("q1", "x")):
            writer.append(record)
    unsealed = store.records_path.read_bytes()
    store.seal([(cell().key, "q1")])
    store.records_path.write_bytes(unsealed)  # killed between the two files
    again = RunStore(store.folder)
    assert list(again.superseded()) == [failed("q1")]
    again.seal([(cell().key, "q1")])
    assert list(again.superseded()) == [failed("q1")]


def test_what_was_asked_in_vain_is_in_the_ledger_and_marked(tmp_path: Path) -> None:
    store = new(tmp_path)
    with store.writing() as writer:
        for record in (failed("q1"), answered("q1", "x")):
            writer.append(record)
    for _ in range(2):
        store.write_calls()
        lines = [json.loads(line) for line in (store.folder / "calls.jsonl").read_text().splitlines()]
        assert [(line["error"], line.get("superseded")) for line in lines] == [(None, None), ("HTTP 500", True)]
        store.seal([(cell().key, "q1")])


def test_sealed_verdicts_do_not_depend_on_the_order_of_judging(tmp_path: Path) -> None:
    contents = set()
    for run_id, names in (("a", ("q1", "q2", "q3")), ("b", ("q3", "q1", "q2"))):
        store = new(tmp_path, run_id)
        with store.judging() as writer:
            for name in names:
                writer.append(verdict(name))
        store.seal([(cell().key, name) for name in ("q2", "q1", "q3")])
        assert [one.question_id for one in store.verdicts()] == ["q2", "q1", "q3"]
        contents.add((store.folder / "verdicts.jsonl").read_bytes())
    assert len(contents) == 1


@pytest.mark.parametrize("left", ["records.jsonl", "manifest.json", "notes.txt"])
def test_a_folder_that_holds_anything_is_never_taken_for_a_new_run(tmp_path: Path, left: str) -> None:
    (tmp_path / "r1").mkdir()
    (tmp_path / "r1" / left).write_text("precious")
    with pytest.raises(RunStoreError, match="exists"), RunStore(tmp_path / "r1").creating(MANIFEST):
        pass
    assert (tmp_path / "r1" / left).read_text() == "precious"


def test_a_folder_that_a_kill_left_before_it_had_a_manifest_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "r1").mkdir()
    for name in ("run.lock", "plan.json", ".manifest.json.part"):
        (tmp_path / "r1" / name).write_text("")
    assert new(tmp_path).manifest()["status"] == "running"


UNTIMED = b'{"status": "running", "started": "yesterday", "config": {}, "identity": {}}'


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b'{"config": 5}', b"\xff", b"{", UNTIMED])
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


def test_labels_are_kept_as_they_were_handed_in(tmp_path: Path) -> None:
    store = new(tmp_path)
    store.write_labels("é\r\n")
    assert store.labels_text() == "é\r\n"


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
        message = answer.get(timeout=PATIENCE_SECONDS)
        other.join()
    assert "another process" in message


def test_latest_run_is_the_one_started_last(tmp_path: Path) -> None:
    new(tmp_path, "old", started="2026-01-01T00:00:00+00:00")
    new(tmp_path, "new", started="2026-01-02T00:00:00+00:00")
    new(tmp_path, "done", started="2026-01-03T00:00:00+00:00", status="finished")
    assert latest_run(tmp_path, unfinished=True).run_id == "new"
    assert latest_run(tmp_path).run_id == "done"


def test_what_a_kill_left_of_a_merge_is_no_run(tmp_path: Path) -> None:
    new(tmp_path, "old", started="2026-01-01T00:00:00+00:00")
    new(tmp_path, ".whole.part", started="2026-01-02T00:00:00+00:00")
    assert latest_run(tmp_path).run_id == "old"


def test_no_run_is_an_error_that_says_where(tmp_path: Path) -> None:
    with pytest.raises(RunStoreError, match="no unfinished run"):
        latest_run(tmp_path, unfinished=True)
    with pytest.raises(RunStoreError, match="no run in"):
        RunStore.open(tmp_path / "nothing")


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(RunStoreError, match="--runs-dir"), RunStore(tmp_path / "file" / "r1").creating(MANIFEST):
        pass
