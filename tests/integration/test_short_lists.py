"""Imported systems that retrieve 0 to 3 documents a question: by trec_eval's rule in every table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import ir_measures
import pytest
from ir_measures import P, R, Success, nDCG

from arena.datasets.jsonl import write_jsonl
from arena.datasets.records import fingerprint
from arena.leaderboard.build import CellSummary, read_leaderboard
from arena.store import RunStore
from arena.types import Dataset, Document, Gold, Question
from tests.integration.conftest import Arena

N = 20
THEIRS = {
    "recall_at_5": R @ 5,
    "recall_at_10": R @ 10,
    "hit_at_5": Success @ 5,
    "precision_at_5": P @ 5,
    "ndcg_at_10": nDCG @ 10,
}
Lists = Callable[[int], Sequence[str]]
"""Number of a question -> what a system retrieved for it; its gold document is that number with a `g` before it."""


def one_of_one(place: int) -> Sequence[str]:
    return [f"g{place}"] if place < 18 else []


def up_to_three(place: int) -> Sequence[str]:
    return ["x0", "x1", f"g{place}"][: place % 4]


def half_as_good(place: int) -> Sequence[str]:
    return one_of_one(place) if place % 2 else ["x0"]


@pytest.fixture
def spec(tmp_path: Path) -> str:
    documents = tuple(Document(one, one, f"All of {one}.") for one in ("x0", "x1", *(f"g{n}" for n in range(N))))
    questions = tuple(Question(f"q{n}", f"What of {n}?", "single_hop", 1) for n in range(N))
    gold = {f"q{n}": Gold(f"q{n}", ("yes",), (f"g{n}",)) for n in range(N)}
    write_jsonl(Dataset("", documents, questions, gold, fingerprint(documents, questions, gold)), tmp_path / "data")
    return f"jsonl:{tmp_path / 'data'}"


@pytest.fixture
def imported(arena: Arena, spec: str, tmp_path: Path) -> Callable[..., Path]:
    def run(run_id: str, **systems: Lists) -> Path:
        files = []
        for name, lists in systems.items():
            lines = [{"question_id": f"q{n}", "answer": "yes", "retrieved_ids": lists(n)} for n in range(N)]
            files.append(tmp_path / f"{name}.jsonl")
            files[-1].write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
        done = arena("import", *files, "--dataset", spec, "--runs-dir", tmp_path / "runs", "--run-id", run_id)
        assert done.code == 0, done.err
        return tmp_path / "runs" / run_id

    return run


def cells(run: Path) -> Mapping[str, CellSummary]:
    return {cell.strategy: cell for cell in read_leaderboard(RunStore(run)).cells}


def test_a_shorter_list_is_a_shorter_list(arena: Arena, imported: Callable[..., Path], tmp_path: Path) -> None:
    run = imported("three", best=one_of_one, mixed=up_to_three, half=half_as_good)
    found = cells(run)
    for name in ("recall_at_5", "recall_at_10", "hit_at_5"):
        assert [found[one].metrics[name].mean for one in ("best", "mixed", "half")] == [0.9, 0.25, 0.45]
    assert {one.metrics[name].n for one in found.values() for name in THEIRS} == {N}
    assert {one.metrics[name].coverage for one in found.values() for name in THEIRS} == {1.0}
    ranks = {name: cell.ranks["retrieval_recall"] for name, cell in found.items()}
    assert (ranks["best"].best, ranks["best"].worst) == (1, 1)
    assert ranks["half"].best <= ranks["mixed"].best

    assert arena("export", run, "--format", "trec", "--out", tmp_path / "trec").code == 0
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "trec" / "qrels.txt")))  # type: ignore[no-untyped-call]
    for system, cell in found.items():
        (file,) = (tmp_path / "trec").glob(f"{system}_*.run")
        lists = list(ir_measures.read_trec_run(str(file)))  # type: ignore[no-untyped-call]
        theirs = ir_measures.calc_aggregate(list(THEIRS.values()), qrels, lists)
        assert {name: cell.metrics[name].mean for name in THEIRS} == pytest.approx(
            {name: theirs[measure] for name, measure in THEIRS.items()}, abs=1e-9
        )


def test_the_gate_sees_what_the_table_sees(arena: Arena, imported: Callable[..., Path], tmp_path: Path) -> None:
    policy = tmp_path / "gate.yaml"
    policy.write_text("margins: {recall_at_5: 0.05, recall_at_10: 0.05}\nfloors: {recall_at_10: 0.85}\n")
    good, bad = imported("good", mine=one_of_one), imported("bad", mine=half_as_good)

    worse = arena("gate", bad, "--baseline", good, "--policy", policy, "--json")
    assert worse.code == 1, worse
    failed = {(one["metric"], one["kind"]) for one in json.loads(worse.out)["checks"] if one["outcome"] == "fail"}
    assert failed >= {("recall_at_5", "margin"), ("recall_at_10", "margin"), ("recall_at_10", "floor")}
    better = arena("gate", good, "--baseline", bad, "--policy", policy, "--json")
    assert better.code == 0, better
    (check,) = (one for one in json.loads(better.out)["checks"] if one["metric"] == "recall_at_5")
    assert (check["outcome"], check["n"]) == ("pass", N)


def test_a_system_that_asks_for_three_has_no_recall_at_five_wherever_it_goes(
    arena: Arena, spec: str, tmp_path: Path
) -> None:
    lines = [{"question_id": f"q{n}", "answer": "yes", "k": 3, "retrieved_ids": up_to_three(n)} for n in range(N)]
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
    where = ("--dataset", spec, "--runs-dir", tmp_path / "runs")
    assert arena("import", file, *where, "--run-id", "first").code == 0
    assert arena("export", tmp_path / "runs" / "first", "--format", "answers", "--out", tmp_path / "out").code == 0
    (again,) = (tmp_path / "out").glob("mine_*.jsonl")
    assert arena("import", again, *where, "--name", "mine", "--run-id", "again").code == 0
    for run in ("first", "again"):
        metrics = cells(tmp_path / "runs" / run)["mine"].metrics
        assert {(metrics[name].mean, metrics[name].n) for name in THEIRS} == {(None, 0)}
        assert (metrics["mrr"].n, metrics["retrieval_recall"].mean) == (N, 0.25)

    file.write_text("".join(f"{json.dumps(one | {'k': 1 + n})}\n" for n, one in enumerate(lines)), encoding="utf-8")
    done = arena("import", file, *where, "--run-id", "other")
    assert (done.code, "k is 1 in one line and 20 in another" in done.err) == (2, True), done.err
