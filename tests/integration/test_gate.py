"""`arena gate`: exit codes, files and messages, over run folders made of known records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from arena.types import RunRecord
from tests.integration.conftest import Arena, Done
from tests.integration.two_runs import DENSE, HYBRID, IDS, half, records, run_of, write_questions
from tests.samples import failed


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return write_questions(tmp_path / "questions")


@pytest.fixture
def baseline(tmp_path: Path, spec: str) -> Path:
    return run_of(tmp_path / "base", spec, records()).folder


def gated(arena: Arena, tmp_path: Path, spec: str, made: Sequence[RunRecord], *options: str | Path) -> Done:
    run = run_of(tmp_path / "new", spec, list(made))
    return arena("gate", run.folder, "--baseline", tmp_path / "base", *options)


def regressed(place: int) -> tuple[str, ...]:
    """A gold document less in 24 of 120 questions: ten points of recall."""
    return half(place) if place % 5 else half(place)[1:]


def test_ten_points_of_recall_fail_the_gate_and_are_named(
    arena: Arena, tmp_path: Path, spec: str, baseline: Path
) -> None:
    made = [*records(regressed, [DENSE]), *records(half, [HYBRID])]
    files = (tmp_path / "gate.md", tmp_path / "gate.xml")
    done = gated(arena, tmp_path, spec, made, "--markdown", files[0], "--junit", files[1])
    assert done.code == 1, done
    assert "Gate FAILED by retrieval_recall of vanilla + dense (-0.100)" in " ".join(done.out.split())
    assert files[0].read_text(encoding="utf-8").startswith("### \N{CROSS MARK} Gate FAILED")
    root = ET.parse(files[1]).getroot()
    assert [case.get("classname") for case in root.iter("testcase") if case.find("failure") is not None] == [
        "vanilla + dense"
    ]


def test_a_run_against_itself_passes_whatever_it_scores(arena: Arena, baseline: Path) -> None:
    done = arena("gate", baseline, "--baseline", baseline, "--json")
    assert done.code == 0, done
    content = json.loads(done.out)
    assert content["passed"]
    assert {check["outcome"] for check in content["checks"]} == {"pass"}
    assert {check["metric"] for check in content["checks"]} >= {"retrieval_recall", "answer_em", "answer_f1", "tokens"}


def test_a_point_less_passes(arena: Arena, tmp_path: Path, spec: str, baseline: Path) -> None:
    done = gated(arena, tmp_path, spec, records(lambda place: half(place)[1:] if place in (1, 2) else half(place)))
    assert done.code == 0, done
    assert "Gate passed" in done.out


def test_failing_on_the_hard_questions_is_a_regression(arena: Arena, tmp_path: Path, spec: str, baseline: Path) -> None:
    lost = set(IDS[:15])
    made = [failed(one.question_id, of=one.cell) if one.question_id in lost else one for one in records()]
    done = gated(arena, tmp_path, spec, made)
    assert done.code == 1, done
    assert "FAIL: worse by the margin or more, and by more than chance" in " ".join(done.out.split())


def test_a_changed_setting_is_named_and_its_cell_still_compared(
    arena: Arena, tmp_path: Path, spec: str, baseline: Path
) -> None:
    deeper = replace(DENSE, params={**DENSE.params, "k": 10})
    done = gated(arena, tmp_path, spec, [*records(half, [deeper]), *records(half, [HYBRID])], "--json")
    content = json.loads(done.out)
    assert (done.code, content["notes"]) == (0, ["Changed in vanilla + dense: k: 5 -> 10."])


def test_a_cell_that_is_gone_fails_unless_the_policy_lets_it(
    arena: Arena, tmp_path: Path, spec: str, baseline: Path
) -> None:
    done = gated(arena, tmp_path, spec, records(half, [DENSE]))
    assert (done.code, "cell of vanilla + hybrid" in done.out) == (1, True)
    policy = tmp_path / "policy.yaml"
    policy.write_text("fail_on_missing: false\n", encoding="utf-8")
    assert arena("gate", tmp_path / "new", "--baseline", baseline, "--policy", policy).code == 0


def test_a_policy_decides_what_is_too_much(arena: Arena, tmp_path: Path, spec: str, baseline: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("cells: {vanilla/dense: {margins: {retrieval_recall: 0.2}}}\n", encoding="utf-8")
    made = [*records(regressed, [DENSE]), *records(half, [HYBRID])]
    assert gated(arena, tmp_path, spec, made, "--policy", policy).code == 0
    policy.write_text("margins: {retrieval_recall: 0.12}\ninconclusive: fail\n", encoding="utf-8")
    done = arena("gate", tmp_path / "new", "--baseline", baseline, "--policy", policy)
    assert (done.code, "FAIL (inconclusive)" in done.out) == (1, True)


def test_floors_alone(arena: Arena, tmp_path: Path, baseline: Path) -> None:
    done = arena("gate", baseline)
    assert done.code == 0, done
    assert "hit_at_5" in done.out
    policy = tmp_path / "policy.yaml"
    policy.write_text("floors: {answer_em: 0.6}\n", encoding="utf-8")
    assert arena("gate", baseline, "--policy", policy).code == 1


def refused(done: Done, *parts: str) -> None:
    assert done.code == 2, done
    assert done.out == ""
    for part in parts:
        assert part in done.err, done.err


def test_other_questions_are_refused_unless_the_policy_compares_the_common_ones(
    arena: Arena, tmp_path: Path, spec: str, baseline: Path
) -> None:
    made = records(ids=IDS[:80])
    refused(gated(arena, tmp_path, spec, made), "were not asked the same questions: 80 in both, 40 in the baseline")
    policy = tmp_path / "policy.yaml"
    policy.write_text("common_questions: true\n", encoding="utf-8")
    done = arena("gate", tmp_path / "new", "--baseline", baseline, "--policy", policy, "--json")
    content = json.loads(done.out)
    assert done.code == 0
    assert {check["n"] for check in content["checks"] if check["metric"] == "answer_em"} == {80}
    assert "vanilla + dense is compared on 80 common questions." in content["notes"]


def test_other_data_are_refused(arena: Arena, tmp_path: Path, jsonl_folder: Path, baseline: Path) -> None:
    other = f"jsonl:{jsonl_folder}"
    done = gated(arena, tmp_path, other, [replace(records()[0], question_id="q1")])
    refused(done, "only runs on the same data", other)


def test_an_unfinished_run_is_refused(arena: Arena, tmp_path: Path, spec: str, baseline: Path) -> None:
    new = run_of(tmp_path / "new", spec, records(), status="stopped")
    lines = new.records_path.read_bytes().splitlines(keepends=True)
    new.records_path.write_bytes(b"".join(lines[:-2]))
    refused(arena("gate", new.folder, "--baseline", baseline), "2 of 240 answers are missing", "--resume")


def test_cells_that_may_belong_together_in_several_ways_are_refused(
    arena: Arena, tmp_path: Path, spec: str, baseline: Path
) -> None:
    deeper = [replace(DENSE, params={**DENSE.params, "k": k}) for k in (7, 10)]
    refused(gated(arena, tmp_path, spec, records(half, deeper)), "may belong together", "k=7", "pairs:")


def test_a_run_without_a_cell_of_the_baseline_is_refused(
    arena: Arena, tmp_path: Path, spec: str, baseline: Path
) -> None:
    made = records(half, [replace(DENSE, strategy="ircot")])
    refused(gated(arena, tmp_path, spec, made), "no cell of one strategy and mode")


@pytest.mark.parametrize(
    ("policy", "part"),
    [
        ("cells: {vanila: {margins: {mrr: 0.1}}}", "the policy limits cell 'vanila', which the run does not have: did"),
        ("margins: {mrr: 0.1}", "has neither floors nor ceilings; name some, or a --baseline"),
        ("floors: {recall: 0.1}", "unknown metric 'recall'"),
    ],
)
def test_a_policy_that_cannot_be_followed_is_refused(
    arena: Arena, tmp_path: Path, baseline: Path, policy: str, part: str
) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(policy, encoding="utf-8")
    against = ["--baseline", baseline] if policy.startswith("cells") else []
    refused(arena("gate", baseline, *against, "--policy", path), part)


def test_a_folder_that_is_no_run_is_refused(arena: Arena, tmp_path: Path, baseline: Path) -> None:
    refused(arena("gate", tmp_path / "none", "--baseline", baseline), "no run in")
