from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from arena.leaderboard.build import CellSummary, Leaderboard, build_leaderboard
from arena.leaderboard.controllers import ControllerScores, ran_at, summarise_controllers
from arena.metrics.controllers import DecisionCounts
from arena.report.names import marks_of
from arena.report.sections.controllers import controller_notes, controllers
from arena.scoring import score_records
from arena.types import Dataset, Decision
from tests.samples import answered
from tests.unit.leaderboard.boards import board, printed, row

LONG = Decision("select_external_knowledge_strips", "kept_the_best_strip_of_all_of_them", changed=("query", "answer"))
DECISIONS = {
    "q1": (Decision("route", "B", changed=("evidence",), tier="T1"), Decision("stop", "[bold]cap"), LONG),
    "q2": (Decision("route", "A", tier="T0"), Decision("stop", "[bold]cap"), Decision("grade", "good")),
}


def deciding(**changes: object) -> CellSummary:
    counted = DecisionCounts()
    for question_id, decisions in DECISIONS.items():
        counted.add(replace(answered(question_id, "x"), decisions=decisions))
    facts = {
        "fidelity_tier": ran_at(counted, "T2"),
        "judgements": dict(counted.judgements),
        "controllers": summarise_controllers(counted),
    }
    return row("adaptive", "dense").model_copy(update=facts | changes)


def shown(leaderboard: Leaderboard, width: int = 80) -> str:
    return printed(controllers(leaderboard, marks_of(leaderboard)), width, terminal=True)


def test_each_branch_has_a_line_with_what_it_changed() -> None:
    lines = [" ".join(line.split()) for line in shown(board(deciding()), 120).splitlines()]
    assert "adaptive + dense at T0" in lines
    assert "route B 1 1 evidence 1" in lines
    assert "A 1 1 nothing" in lines
    assert "stop [bold]cap 2 2 nothing" in lines


@pytest.mark.parametrize("width", [80, 100])
def test_it_fits_a_terminal_and_loses_no_name(width: int) -> None:
    text = shown(board(deciding()), width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "…" not in text
    assert "query 1, answer 1" in " ".join(text.split())


def test_what_its_decisions_were_worth_stands_below() -> None:
    worth = ControllerScores(
        graders=[],
        against_hops=None,
        against_oracle=None,
        rewriting=None,
        n_retrievals=9,
        n_wasted=4,
        n_needless=1,
    )
    lines = shown(board(deciding(controller_scores=worth)), 120).splitlines()
    assert lines[-1] == "  4 of 9 retrievals brought no new gold document, 1 of them when all was there already."


def test_what_decides_nothing_is_flagged() -> None:
    notes = list(controller_notes(deciding()))
    assert notes == [
        "stop took [bold]cap on every question and never changed anything.",
        "grade never changed anything: the controller is a no-op here.",
        "Judgements were 1 at T0, 1 at T1: the cell counts as T0, the lowest.",
    ]
    assert all(note in shown(board(deciding()), 120) for note in notes)


def test_judgements_of_one_tier_need_no_word() -> None:
    assert not [note for note in controller_notes(deciding(judgements={"T1": 9})) if "Judgements" in note]


def test_a_board_without_decisions_shows_nothing() -> None:
    assert shown(board(row())) == ""


def test_namesakes_are_told_apart() -> None:
    two = board(deciding(params={"policy": "oracle"}), deciding(params={"policy": "always_a"}))
    assert "adaptive + dense (policy=oracle) at T0" in shown(two)


def test_the_leaderboard_holds_it_and_the_tier_that_was_run(dataset: Dataset) -> None:
    records = [replace(answered(question_id, "x"), decisions=made) for question_id, made in DECISIONS.items()]
    built = build_leaderboard(
        score_records(records, dataset), dataset, run_id="r1", fingerprint="run_0", tiers={"vanilla": "T2"}, seed=0
    )
    (cell,) = built.cells
    assert (cell.fidelity_tier, cell.judgements) == ("T0", {"T0": 1, "T1": 1})
    assert [(one.node, one.never_changed_anything, one.always) for one in cell.controllers[:2]] == [
        ("route", False, None),
        ("stop", True, "[bold]cap"),
    ]
    assert Leaderboard.model_validate_json(built.model_dump_json()) == built


def test_without_a_judgement_only_the_control_flow_is_the_papers() -> None:
    assert ran_at(DecisionCounts(), "T2") == "T0"
    assert ran_at(DecisionCounts(), None) is None
