from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from arena.config import JudgeConfig
from arena.config.settings import JudgeModel
from arena.datasets import load_dataset
from arena.datasets.jsonl import write_jsonl
from arena.errors import RunStoreError
from arena.judges.subject import subject_of
from arena.leaderboard.build import Leaderboard
from arena.metrics import METRICS, Case
from arena.store import CALLS, LEADERBOARD, QUESTIONS, RUNNING, SCORES, RunStore
from arena.types import Dataset, Document, RunRecord, Score, Verdict
from experiments.execution.scoring import conclude_run, documents_of, open_past_run, rescore, score_run
from experiments.terminal.progress import Reporter
from experiments.terminal.tables import Console
from tests.samples import answered, call, cell, failed
from tests.unit.experiments.made_runs import made_run

DERIVED = (SCORES, QUESTIONS, CALLS, LEADERBOARD)
DENSE, HYBRID = cell(mode="dense"), cell(mode="hybrid")
RECORDS = (
    replace(answered("q1", "Ostrand", ("d1", "d2"), of=DENSE), warm_up=True),
    answered("q1", "Tammerhold", ("d2",), of=HYBRID),
    failed("q2", of=DENSE),
    replace(answered("q2", "1871", ("d1",), of=HYBRID), calls=(call(replayed=True),)),
    answered("q5", "I do not know.", abstained=True, of=DENSE),
    answered("q5", "Mirelle Ostrand", ("d3",), of=HYBRID),
)
QUIET = Reporter(Console(stderr=True), quiet=True)


@pytest.fixture
def spec(jsonl_folder: Path) -> str:
    return f"jsonl:{jsonl_folder}"


@pytest.fixture
def store(tmp_path: Path, spec: str) -> RunStore:
    return made_run(tmp_path / "runs" / "r1", spec, load_dataset(spec), RECORDS)


def derived(store: RunStore) -> list[bytes]:
    return [(store.folder / name).read_bytes() for name in DERIVED]


def test_a_folder_gives_the_same_bytes_every_time(store: RunStore, spec: str) -> None:
    conclude_run(store, QUIET, dataset=load_dataset(spec))
    first = derived(store)
    for name in DERIVED:
        (store.folder / name).unlink()
    conclude_run(store, QUIET)
    assert derived(store) == first


def test_everything_is_derived_from_the_journal(store: RunStore) -> None:
    board = conclude_run(store, QUIET)
    assert Leaderboard.model_validate_json(store.leaderboard_json()) == board
    dense, hybrid = board.cells
    assert (dense.n_answered, dense.n_abstained, dense.n_failed) == (1, 1, 1)
    assert (dense.latency_seconds.n_measured, hybrid.latency_seconds.n_measured) == (1, 2)
    assert (dense.n_warm_up, hybrid.n_warm_up) == (1, 0)
    scores, questions = store.read_table(SCORES), store.read_table(QUESTIONS)
    assert len(scores["metric"]) == len(RECORDS) * len(METRICS)
    assert list(zip(questions["question_id"], questions["failure"], questions["measured"], strict=True)) == [
        ("q1", "correct", False),
        ("q2", "provider_failed", False),
        ("q5", "correct_abstention", True),
        ("q1", "index_miss", True),
        ("q2", "correct", False),
        ("q5", "false_answer", True),
    ]


def test_cells_stand_in_the_order_of_the_plan_whatever_finished_first(tmp_path: Path, spec: str) -> None:
    def keys(name: str, journal: Sequence[RunRecord]) -> list[str]:
        made = made_run(tmp_path / name, spec, load_dataset(spec), RECORDS)
        made.records_path.unlink()
        with made.writing() as writer:
            for record in journal:
                writer.append(record)
        return [one.cell.key for one in score_run(open_past_run(made)).cells]

    assert keys("backwards", RECORDS[::-1]) == keys("forwards", RECORDS) == [DENSE.key, HYBRID.key]


def test_a_record_outside_the_plan_is_no_result(store: RunStore) -> None:
    with store.writing() as journal:
        journal.append(answered("q3", "Sarn estuary", ("d4",), of=DENSE))
    assert set(score_run(open_past_run(store)).cells[0].scores) == {"q1", "q2", "q5"}


def test_other_data_than_the_run_was_made_on_are_refused(store: RunStore, jsonl_folder: Path) -> None:
    conclude_run(store, QUIET)
    before = derived(store)
    was = store.manifest()["identity"]["dataset"]
    corpus = jsonl_folder / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("1871", "1872"))
    with pytest.raises(RunStoreError) as caught:
        conclude_run(store, QUIET)
    now = load_dataset(f"jsonl:{jsonl_folder}").fingerprint
    assert repr(was) in str(caught.value)
    assert repr(now) in str(caught.value)
    assert derived(store) == before


def test_an_unfinished_run_is_shown_as_far_as_it_is_and_nothing_is_written(
    tmp_path: Path, spec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = made_run(tmp_path / "cut", spec, load_dataset(spec), RECORDS, status=RUNNING)
    lines = whole.records_path.read_bytes().splitlines(keepends=True)
    whole.records_path.write_bytes(b"".join(lines[:-2]))
    board = rescore(whole, Reporter(Console(stderr=True)))
    assert [one.n_questions for one in board.cells] == [2, 2]
    assert "2 of 6 answers are missing" in capsys.readouterr().err
    assert not any((whole.folder / name).exists() for name in DERIVED)


def test_a_run_that_is_being_written_is_not_scored_under_the_writer(store: RunStore) -> None:
    with RunStore(store.folder).holding(), pytest.raises(RunStoreError, match="another process"):
        rescore(store, QUIET)


def test_the_second_corpus_is_loaded_and_checked(tmp_path: Path, spec: str) -> None:
    other = tmp_path / "second"
    write_jsonl(Dataset("", (Document("e1", "Weir", "It was bridged in 1871."),), (), {}, ""), other)
    fingerprint = "ds_of_another_corpus"
    searching = replace(DENSE, params={"external_corpus": fingerprint})
    records = [answered("q2", "1871", ("e1",), of=searching)]
    made = made_run(tmp_path / "second_run", spec, load_dataset(spec), records, external={"dataset": f"jsonl:{other}"})
    with pytest.raises(RunStoreError, match=fingerprint):
        documents_of(open_past_run(made))


def test_a_run_that_was_to_be_judged_and_was_not_says_so(tmp_path: Path, spec: str) -> None:
    judge = JudgeConfig(llm=JudgeModel(model="fake:"), metrics=("answer_accuracy",))
    made = made_run(tmp_path / "judged", spec, load_dataset(spec), RECORDS, judge=judge)
    conclude_run(made, QUIET)
    rows = made.read_table(SCORES)
    reasons = [
        reason for metric, reason in zip(rows["metric"], rows["reason"], strict=True) if metric == "answer_accuracy"
    ]
    assert reasons == ["not_judged", "failed", "unanswerable", "not_judged", "not_judged", "unanswerable"]


def test_verdicts_are_read_from_the_folder(tmp_path: Path, spec: str) -> None:
    data = load_dataset(spec)
    made = made_run(tmp_path / "verdicts", spec, data, RECORDS[:1])
    manifest = made.manifest()
    made.write_manifest(manifest | {"judges": {"answer_accuracy": "judge_1"}})
    documents = {one.doc_id: one for one in data.documents}
    sha = subject_of(Case(RECORDS[0], data.questions[0], data.gold["q1"], documents)).sha
    score = Score("answer_accuracy", 0.75)
    said = Verdict(DENSE.key, "q1", "answer_accuracy", "fake:", "judge_1", sha, 0, score)
    with made.judging() as journal:
        journal.append(said)
        journal.append(replace(said, judge_sha="judge_2", score=Score("answer_accuracy", 0.0)))
    board = conclude_run(made, QUIET)
    assert board.cells[0].metrics["answer_accuracy"].mean == 0.75
