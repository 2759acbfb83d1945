from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from arena.datasets import load_dataset
from arena.errors import ConfigError
from arena.judges.reading import JudgeCount
from arena.plan import PlannedCell, RunPlan
from arena.scoring import ScoreTable
from arena.types import Cell
from experiments.execution.scoring import PastRun, open_past_run
from experiments.studies.compare.compare import join_tables, share_questions
from tests.samples import answered
from tests.unit.experiments.made_runs import made_run

WRITING, FINDING = Cell("vanilla", "dense", "fake:", {}), Cell("retrieval_only", "dense", None, {})
ORACLE = Cell("oracle", "gold", "fake:", {})


@pytest.fixture
def spec(jsonl_folder: Path) -> str:
    return f"jsonl:{jsonl_folder}"


def run(folder: Path, spec: str, asked: Mapping[str, Sequence[str]]) -> PastRun:
    """`asked`: strategy -> its questions."""
    cells = {cell.strategy: cell for cell in (WRITING, FINDING, ORACLE)}
    records = [answered(one, "x", of=cells[name]) for name, ids in asked.items() for one in ids]
    store = made_run(folder, spec, load_dataset(spec), records)
    store.write_plan(RunPlan(tuple(PlannedCell(cells[name], tuple(ids)) for name, ids in asked.items())))
    return open_past_run(store)


def planned(run: PastRun) -> dict[str, tuple[str, ...]]:
    return {one.cell.strategy: one.question_ids for one in run.plan.cells}


def test_runs_that_asked_the_same_are_left_as_they_are(tmp_path: Path, spec: str) -> None:
    asked = {"retrieval_only": ("q1", "q2", "q3"), "vanilla": ("q1", "q2"), "oracle": ("q1",)}
    runs = {name: run(tmp_path / name, spec, asked) for name in ("a", "b")}
    shared = share_questions(runs)
    assert (shared.runs, shared.notes) == (runs, ())


def test_cells_that_call_a_model_have_common_questions_of_their_own(tmp_path: Path, spec: str) -> None:
    every = ("q1", "q2", "q3", "q4")
    one = run(tmp_path / "a", spec, {"retrieval_only": every, "vanilla": ("q1", "q2", "q3"), "oracle": ("q1", "q3")})
    other = run(tmp_path / "b", spec, {"retrieval_only": every, "vanilla": ("q2", "q3", "q4")})
    shared = share_questions({"a": one, "b": other})
    assert planned(shared.runs["a"]) == {"retrieval_only": every, "vanilla": ("q2", "q3"), "oracle": ("q3",)}
    assert planned(shared.runs["b"]) == {"retrieval_only": every, "vanilla": ("q2", "q3")}
    assert shared.notes == ("The cells with a model are compared on 2 common questions: asked were 3 in a, 3 in b.",)


def test_a_group_that_only_one_run_has_is_kept_whole(tmp_path: Path, spec: str) -> None:
    one = run(tmp_path / "a", spec, {"retrieval_only": ("q1",)})
    other = run(tmp_path / "b", spec, {"vanilla": ("q2",)})
    shared = share_questions({"a": one, "b": other})
    assert [planned(each) for each in shared.runs.values()] == [{"retrieval_only": ("q1",)}, {"vanilla": ("q2",)}]


def test_runs_without_a_common_question_are_refused(tmp_path: Path, spec: str) -> None:
    runs = {name: run(tmp_path / name, spec, {"vanilla": (asked,)}) for name, asked in (("a", "q1"), ("b", "q2"))}
    with pytest.raises(ConfigError, match="the cells with a model of a and b share no question"):
        share_questions(runs)


def test_what_one_judge_did_in_two_runs_is_counted_together() -> None:
    tables = {
        name: ScoreTable((), [JudgeCount("fake:judge", "faithfulness", "abc", rated=4, split=1, echoed=echoed)])
        for name, echoed in (("a", 2), ("b", 1))
    }
    (joined,) = join_tables(tables, ()).judges or ()
    assert (joined.rated, joined.split, joined.echoed) == (8, 2, 3)
