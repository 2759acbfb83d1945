"""`arena compare`: several run folders as one leaderboard, and what is said of what keeps them apart."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.config import JudgeConfig
from arena.config.settings import JudgeModel
from arena.datasets import load_dataset
from arena.judges.subject import subject_of
from arena.leaderboard.build import Leaderboard
from arena.metrics import Case
from arena.store import RunStore
from arena.types import Score, Verdict
from tests.integration.conftest import Arena, Done
from tests.integration.two_runs import DENSE, HYBRID, IDS, half, records, run_of, write_questions


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return write_questions(tmp_path / "questions")


@pytest.fixture
def first(tmp_path: Path, spec: str) -> RunStore:
    return run_of(tmp_path / "runs" / "first", spec, records())


def compared(arena: Arena, *folders: Path) -> dict[str, Any]:
    done = arena("compare", *folders, "--json")
    assert done.code == 0, done
    content: dict[str, Any] = json.loads(done.out)
    return content


def of_runs(content: dict[str, Any]) -> list[tuple[str, str]]:
    return [(cell["params"]["run"], cell["retrieval_mode"]) for cell in content["cells"]]


def test_every_cell_of_every_run_is_a_row_and_none_are_merged(
    arena: Arena, tmp_path: Path, spec: str, first: RunStore
) -> None:
    second = run_of(tmp_path / "runs" / "second", spec, records(lambda place: half(place)[:2], [DENSE]))
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    content = compared(arena, first.folder, second.folder)
    assert of_runs(content) == [("first", "dense"), ("first", "hybrid"), ("second", "dense")]
    assert len({cell["cell"] for cell in content["cells"]}) == 3
    assert [run["name"] for run in content["runs"]] == ["first", "second"]
    pairs = [one for one in content["comparisons"] if one["metric"] == "retrieval_recall"]
    assert len(pairs) == 3
    (note,) = content["notes"]
    assert note.startswith("1 cell is in first and second, by name the same, and not made under the same settings")
    shaped = {name: content[name] for name in Leaderboard.model_fields}
    assert Leaderboard.model_validate(shaped).run_id == "first + second"
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def edited(store: RunStore, part: str, **changes: Any) -> None:
    manifest = store.manifest()
    manifest[part] = manifest.get(part, {}) | changes
    store.write_manifest(manifest)


def test_each_setting_in_which_they_differ_is_named(arena: Arena, tmp_path: Path, spec: str, first: RunStore) -> None:
    second = run_of(tmp_path / "runs" / "second", spec, records())
    for store, k, code in ((first, 5, "a" * 64), (second, 10, "b" * 64)):
        contestants = {"vanilla": {"code": code, "prompts": "p"}}
        edited(store, "identity", config={"retrieval": {"k": k, "depth": 50}}, contestants=contestants)
        edited(store, "prices", as_of=f"2026-01-{k:02}")
        edited(store, "machine", processor=f"chip {k}")
    done = arena("compare", first.folder, second.folder)
    assert done.code == 0, done
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "│ retrieval.k │ 5 │ 10 │ scores │" in lines
    assert "│ strategy vanilla.code │ aaaaaaaaaaaa... │ bbbbbbbbbbbb... │ scores │" in lines
    assert "│ machine.processor │ chip 5 │ chip 10 │ seconds │" in lines
    assert "│ prices.as_of │ 2026-01-05 │ 2026-01-10 │ cost │" in lines
    assert not any("depth" in line for line in lines)
    assert any(line.startswith("first vanilla dense") for line in lines)
    assert any("All costs are at the prices of 2026-01-01" in line for line in lines)


def test_runs_that_differ_in_nothing_say_so(arena: Arena, tmp_path: Path, spec: str, first: RunStore) -> None:
    second = run_of(tmp_path / "runs" / "second", spec, records())
    assert compared(arena, first.folder, second.folder)["differences"] == []
    assert "Nothing: data, settings, code, prompts" in arena("compare", first.folder, second.folder).out


def test_runs_on_other_questions_are_compared_on_the_common_ones(
    arena: Arena, tmp_path: Path, spec: str, first: RunStore
) -> None:
    second = run_of(tmp_path / "runs" / "second", spec, records(ids=IDS[40:]))
    content = compared(arena, first.folder, second.folder)
    assert {cell["n_questions"] for cell in content["cells"]} == {80}
    note = "The cells with a model are compared on 80 common questions: asked were 120 in first, 80 in second."
    assert note in content["notes"]


def refused(done: Done, *parts: str) -> None:
    assert done.code == 2, done
    assert done.out == ""
    for part in parts:
        assert part in done.err, done.err


def test_what_cannot_be_compared_is_refused(
    arena: Arena, tmp_path: Path, spec: str, jsonl_folder: Path, first: RunStore
) -> None:
    refused(arena("compare", first.folder), "one run is no comparison")
    same = first.folder / ".." / "first"
    refused(arena("compare", first.folder, same), "named more than once")
    refused(arena("compare", first.folder, tmp_path / "none"), "no run in")
    other = run_of(tmp_path / "runs" / "other", f"jsonl:{jsonl_folder}", [replace(records()[0], question_id="q1")])
    refused(arena("compare", first.folder, other.folder), "only runs on the same data", str(jsonl_folder))
    early = run_of(tmp_path / "early", spec, records(ids=IDS[:20]))
    late = run_of(tmp_path / "late", spec, records(ids=IDS[20:40]))
    refused(arena("compare", early.folder, late.folder), "share no question", "early and late")
    (late.folder / "plan.json").write_text("{}", encoding="utf-8")
    refused(arena("compare", first.folder, late.folder), "plan.json of run 'late' is damaged")


def test_an_unfinished_run_is_shown_as_far_as_it_is(arena: Arena, tmp_path: Path, spec: str, first: RunStore) -> None:
    second = run_of(tmp_path / "runs" / "second", spec, records(), status="stopped")
    lines = second.records_path.read_bytes().splitlines(keepends=True)
    second.records_path.write_bytes(b"".join(lines[:-30]))
    done = arena("compare", first.folder, second.folder, "--json")
    content = json.loads(done.out)
    assert "run 'second' is not finished: 30 of 240 answers are missing" in done.err
    assert [cell["n_questions"] for cell in content["cells"]] == [120, 120, 120, 90]
    second.records_path.write_bytes(b"")
    refused(arena("compare", first.folder, second.folder), "run 'second' has no answer yet")


def test_runs_with_one_name_are_told_apart_by_their_folders(arena: Arena, tmp_path: Path, first: RunStore) -> None:
    copy = tmp_path / "elsewhere" / "first"
    shutil.copytree(first.folder, copy)
    content = compared(arena, first.folder, copy)
    assert {run for run, _ in of_runs(content)} == {str(first.folder), str(copy)}


def judged_run(folder: Path, spec: str, judge_sha: str, wrong: int = 0) -> RunStore:
    """A run whose first 40 answers of the dense cell were judged by this judge; all faithful but `wrong` of them."""
    judge = JudgeConfig(llm=JudgeModel(model="fake:"), metrics=("faithfulness",))
    made = records(half, [DENSE], IDS[:40])
    store = run_of(folder, spec, made, judge=judge)
    dataset = load_dataset(spec)
    questions = {one.question_id: one for one in dataset.questions}
    documents = {one.doc_id: one for one in dataset.documents}
    with store.judging() as journal:
        for place, record in enumerate(made):
            name = record.question_id
            subject = subject_of(Case(record, questions[name], dataset.gold[name], documents))
            score = Score("faithfulness", float(place >= wrong))
            journal.append(Verdict(record.cell.key, name, "faithfulness", "fake:", judge_sha, subject.sha, 0, score))
    return store


def test_judges_are_compared_where_they_are_one_and_withheld_where_not(arena: Arena, tmp_path: Path, spec: str) -> None:
    one = judged_run(tmp_path / "one", spec, "judge_a")
    two = judged_run(tmp_path / "two", spec, "judge_a", wrong=10)
    other = judged_run(tmp_path / "other", spec, "judge_b", wrong=10)
    alike = compared(arena, one.folder, two.folder)
    assert [cell["metrics"]["faithfulness"]["mean"] for cell in alike["cells"]] == [1.0, 0.75]
    assert [(card["judge_sha"], card["judged"]) for card in alike["judges"]] == [("judge_a", 80)]
    apart = compared(arena, one.folder, other.folder)
    assert all("faithfulness" not in cell["metrics"] for cell in apart["cells"])
    assert apart["judges"] == []
    assert any(
        note.startswith("faithfulness is withheld: one and other were judged by diff") for note in apart["notes"]
    )
    assert apart["differences"][0]["values"] == {"one": "judge_a", "other": "judge_b"}


def test_a_guard_still_sees_a_judge_that_is_stuck_in_all_runs(arena: Arena, tmp_path: Path, spec: str) -> None:
    stuck = [judged_run(tmp_path / name, spec, "judge_a", wrong=0).folder for name in ("one", "two")]
    guards = [one["guard"] for cell in compared(arena, *stuck)["cells"] for one in cell["guards"]]
    assert guards == ["constant_judge", "constant_judge"]


def test_a_pipe_shows_the_run_of_every_row(arena: Arena, tmp_path: Path, spec: str) -> None:
    runs = [
        run_of(tmp_path / name, spec, records(half, [cell], IDS[:30])) for name, cell in (("a", DENSE), ("b", HYBRID))
    ]
    out = arena("compare", *(run.folder for run in runs)).out
    assert [line.split()[:3] for line in out.splitlines() if " vanilla " in line] == [
        ["a", "vanilla", "dense"],
        ["b", "vanilla", "hybrid"],
    ]
