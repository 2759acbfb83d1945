"""Answers of other systems in, runs out: through the command line, on a run of the product's own fake model."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import RR, Success

from arena.datasets.jsonl import write_jsonl
from arena.leaderboard.build import read_leaderboard
from arena.plan import PlannedCell, RunPlan
from arena.store import FINISHED, RUNNING, RunStore
from tests.integration.conftest import Arena
from tests.integration.finished_run import CELLS, small_records, write_finished_run
from tests.samples import QUESTIONS, small_dataset

EXACT = ("retrieval_recall", "retrieval_precision", "mrr", "answer_em", "answer_f1", "answer_contains", "full_recall")
LINE = {"question_id": "q2", "answer": "1871", "retrieved_ids": ["d1"], "input_tokens": 90, "output_tokens": 2}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_jsonl(small_dataset(), tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def run_folder(tmp_path: Path, data: Path) -> Path:
    """A finished run of two cells: five questions, one failed."""
    store = write_finished_run(tmp_path / "runs" / "made", data, small_records())
    ids = tuple(one.question_id for one in QUESTIONS)
    store.write_plan(RunPlan(tuple(PlannedCell(cell, ids) for cell in CELLS)))
    return store.folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def lines(*objects: Any, name: str = "mine.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(one)}\n" for one in objects), encoding="utf-8")
        return path

    return lines


def test_a_system_is_scored_as_any_other(arena: Arena, data: Path, write: Callable[..., Path], tmp_path: Path) -> None:
    answers = write(LINE, {"question_id": "q3", "error": "it broke"}, {"question_id": "q5", "abstained": True})
    done = arena("import", answers, "--dataset", f"jsonl:{data}", "--runs-dir", tmp_path / "runs", "--run-id", "mine")
    assert done.code == 0, done.err
    assert "3 of the 5 questions" in done.err

    board = read_leaderboard(RunStore(tmp_path / "runs" / "mine"))
    (cell,) = board.cells
    assert (cell.strategy, cell.retrieval_mode, cell.llm) == ("mine", "imported", "unstated")
    assert (cell.n_answered, cell.n_abstained, cell.n_failed) == (1, 1, 1)
    assert cell.metrics["answer_em"].coverage == 0.5  # of the two that can be answered, the failed one is missing
    assert cell.tokens is None  # the failed question says nothing of its tokens
    assert cell.latency_seconds.n_measured == 0

    assert arena("verify", tmp_path / "runs" / "mine").code == 0
    assert arena("show", tmp_path / "runs" / "mine").code == 0


def test_a_question_that_a_file_passes_over_counts_against_it(
    arena: Arena, data: Path, write: Callable[..., Path], tmp_path: Path
) -> None:
    both = write(LINE, LINE | {"question_id": "q3", "answer": "Sarn estuary"}, name="both.jsonl")
    one = write(LINE, name="one.jsonl")
    done = arena("import", both, one, "--dataset", f"jsonl:{data}", "--runs-dir", tmp_path, "--run-id", "r", "--json")
    assert "one has no line for 1 of the 2 questions" in done.err
    cells = {cell["strategy"]: cell for cell in json.loads(done.out)["cells"]}
    assert (cells["both"]["n_failed"], cells["one"]["n_failed"]) == (0, 1)
    assert cells["one"]["metrics"]["answer_em"]["lower_bound"] == 0.5


def test_lists_longer_than_k_are_named_and_scored_whole(
    arena: Arena, data: Path, write: Callable[..., Path], tmp_path: Path
) -> None:
    long = write(LINE | {"k": 1, "retrieved_ids": ["d2", "d3", "d1"]}, name="long.jsonl")
    short = write(LINE | {"k": 1}, name="short.jsonl")
    done = arena("import", long, short, "--dataset", f"jsonl:{data}", "--runs-dir", tmp_path, "--json")
    assert "long says k: 1, and its lists hold 2 documents beyond that, which are scored like the others" in done.err
    assert "short says" not in done.err
    assert [cell["metrics"]["retrieval_recall"]["mean"] for cell in json.loads(done.out)["cells"]] == [1.0, 1.0]


def test_what_is_exported_and_imported_scores_the_same(
    arena: Arena, run_folder: Path, data: Path, tmp_path: Path
) -> None:
    assert arena("export", run_folder, "--format", "answers", "--out", tmp_path / "out").code == 0
    (file,) = (tmp_path / "out").glob("vanilla_*.jsonl")
    where = ("--runs-dir", tmp_path, "--run-id", "again")
    done = arena("import", file, "--dataset", f"jsonl:{data}", "--name", "copy", "--llm", "fake:", *where)
    assert done.code == 0, done.err
    before, (after,) = (
        read_leaderboard(RunStore(run_folder)).cells[0],
        read_leaderboard(RunStore(tmp_path / "again")).cells,
    )
    assert {name: after.metrics[name] for name in EXACT} == {name: before.metrics[name] for name in EXACT}
    assert after.tokens_per_question == before.tokens_per_question
    assert after.latency_seconds == before.latency_seconds


def test_trec_files_give_other_tools_the_same_figures(arena: Arena, run_folder: Path, tmp_path: Path) -> None:
    done = arena("export", run_folder, "--format", "trec", "--out", tmp_path / "trec")
    assert "1 records have no place" in done.out
    (run_file,) = (tmp_path / "trec").glob("vanilla_*.run")
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "trec" / "qrels.txt")))  # type: ignore[no-untyped-call]
    run = list(ir_measures.read_trec_run(str(run_file)))  # type: ignore[no-untyped-call]
    theirs = ir_measures.calc_aggregate([RR, Success @ 5], qrels, run)
    ours = read_leaderboard(RunStore(run_folder)).cells[0].metrics
    # the failed question counts 0 with them, and is missing with us: the lower bound
    assert theirs[RR] == pytest.approx(ours["mrr"].lower_bound)
    assert theirs[Success @ 5] == pytest.approx(ours["hit_at_5"].lower_bound)


def test_ragas_reads_its_samples(arena: Arena, run_folder: Path, tmp_path: Path) -> None:
    from ragas import EvaluationDataset

    assert arena("export", run_folder, "--format", "ragas", "--out", tmp_path / "ragas").code == 0
    (file,) = (tmp_path / "ragas").glob("vanilla_*.jsonl")
    samples: list[Any] = list(EvaluationDataset.from_jsonl(str(file)).samples)
    assert [one.response for one in samples] == [
        "Mirelle Ostrand",
        "1872",
        "Tammerhold is a hill town.",
        "I do not know.",
    ]
    assert samples[0].retrieved_contexts[0].startswith("Orlen Weir\n")
    assert samples[0].reference == "Mirelle Ostrand"


def test_the_table_has_a_row_per_cell_and_question(arena: Arena, run_folder: Path, tmp_path: Path) -> None:
    assert arena("export", run_folder, "--out", tmp_path / "table").code == 0
    with (tmp_path / "table" / "questions.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10
    assert rows[0]["answer_em"] == "1.0"
    assert [row["answer_em"] for row in rows if row["outcome"] == "failed"] == ["", ""]


def test_ranx_gets_its_dictionaries(arena: Arena, run_folder: Path, tmp_path: Path) -> None:
    assert arena("export", run_folder, "--format", "ranx", "--out", tmp_path / "ranx").code == 0
    (run_file,) = (tmp_path / "ranx").glob("vanilla_*.json")
    assert json.loads(run_file.read_text())["q1"] == {"d1": 2, "d2": 1}
    assert json.loads((tmp_path / "ranx" / "qrels.json").read_text())["q1"] == {"d1": 1, "d2": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LINE | {"question_id": "q22"}, "mine.jsonl:2: question 'q22' is not in"),
        (LINE | {"question_id": "q1"}, "stands at"),
        (LINE | {"question_id": "q3", "retrieved_ids": ["d11"]}, "document 'd11' is not in"),
        (LINE | {"question_id": "q3", "used_ids": ["nowhere"]}, "used_ids: document 'nowhere'"),
        (LINE | {"question_id": "q3", "answr": "x"}, "did you mean 'answer'?"),
        (LINE | {"question_id": "q3", "seconds": -1}, "field 'seconds'"),
        (LINE | {"question_id": "q3", "seconds": 1e300}, "field 'seconds'"),
        (LINE | {"question_id": "q3", "scores": [10**400]}, "not JSON: an integer of more than 300 digits"),
        (LINE | {"question_id": "q3", "scores": [True]}, "field 'scores.0'"),
        (LINE | {"question_id": "q3", "input_tokens": 10**30}, "field 'input_tokens'"),
        (LINE | {"question_id": "q3", "input_tokens": "12"}, "field 'input_tokens'"),
        (LINE | {"question_id": "q3", "output_tokens": True}, "field 'output_tokens'"),
        (LINE | {"question_id": "q3", "abstained": "yes"}, "field 'abstained'"),
        ({"question_id": "q3", "calls": [{"input_tokens": 10**30}]}, "field 'calls.0.input_tokens'"),
        ({"question_id": "q3", "error": ""}, "field 'error'"),
        (LINE | {"question_id": "q3", "retrieved_ids": "d1"}, "field 'retrieved_ids': Input should be a valid list"),
        (LINE | {"question_id": "q3", "scores": [1, 2]}, "scores has 2 numbers for 1"),
        (LINE | {"question_id": "q3", "error": "x"}, "an error and an answer"),
        (LINE | {"question_id": "q3", "calls": []}, "tokens are given twice"),
        ({"question_id": "q3"}, "1 of 2 questions have no answer ('q3')"),
    ],
)
def test_a_faulty_line_is_named_and_leaves_nothing(
    line: dict[str, Any], message: str, arena: Arena, data: Path, write: Callable[..., Path], tmp_path: Path
) -> None:
    answers = write(LINE | {"question_id": "q1"}, line)
    done = arena("import", answers, "--dataset", f"jsonl:{data}", "--runs-dir", tmp_path / "runs", "--run-id", "r")
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "runs" / "r").exists()


def test_an_import_that_was_killed_goes_on_with_the_same_files(
    arena: Arena, data: Path, write: Callable[..., Path], tmp_path: Path
) -> None:
    where = ("--dataset", f"jsonl:{data}", "--runs-dir", tmp_path / "runs", "--run-id", "r")
    answers = write(LINE | {"seconds": 2})
    assert arena("import", answers, *where).code == 0
    store = RunStore(tmp_path / "runs" / "r")
    whole = store.leaderboard_json()
    for derived in ("leaderboard.json", "scores.parquet", "questions.parquet", "calls.jsonl"):
        (store.folder / derived).unlink()
    store.write_manifest(store.manifest() | {"status": RUNNING, "finished": None})

    refused = arena("review", "export", store.folder, "--out", tmp_path / "sheet.csv")
    assert (refused.code, f"arena import FILE ... --dataset jsonl:{data} --run-id r" in refused.err) == (2, True)
    other = arena("import", write(LINE | {"answer": "1872"}, name="other.jsonl"), *where)
    assert (other.code, "choose another --run-id" in other.err) == (2, True)
    again = arena("import", answers, *where)
    assert again.code == 0, again.err
    assert store.leaderboard_json() == whole
    assert store.manifest()["status"] == FINISHED
    assert arena("import", answers, *where).code == 2


def test_a_run_that_is_not_finished_is_exported_with_a_warning_and_an_empty_one_not_at_all(
    arena: Arena, run_folder: Path, tmp_path: Path
) -> None:
    records = run_folder / "records.jsonl"
    records.write_text("".join(records.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    done = arena("export", run_folder, "--out", tmp_path / "part")
    assert (done.code, "not finished: 1 of 10 answers are missing; go on with arena run --resume" in done.err) == (
        0,
        True,
    ), done.err
    records.write_text("", encoding="utf-8")
    done = arena("export", run_folder, "--out", tmp_path / "none")
    assert (done.code, "has no record yet: arena run --resume --run-id made" in done.err) == (2, True), done.err
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--name", "vanilla"), "'vanilla' is a strategy of the arena"),
        (("--name", "a/b"), "is no name for a system"),
        (("--name", "n" * 101), "is no name for a system"),
        (("--name", "a", "--name", "b"), "2 names for 1 files"),
    ],
)
def test_names_that_no_system_may_have(
    arguments: tuple[str, ...], message: str, arena: Arena, data: Path, write: Callable[..., Path], tmp_path: Path
) -> None:
    done = arena("import", write(LINE), "--dataset", f"jsonl:{data}", "--runs-dir", tmp_path / "runs", *arguments)
    assert (done.code, message in done.err) == (2, True), done.err


def test_an_unknown_format_and_a_full_folder_are_refused(arena: Arena, run_folder: Path, tmp_path: Path) -> None:
    done = arena("export", run_folder, "--format", "trek", "--out", tmp_path / "out")
    assert (done.code, "did you mean 'trec'?" in done.err) == (2, True), done.err
    done = arena("export", run_folder, "--out", run_folder)
    assert (done.code, "holds something else" in done.err) == (2, True), done.err
