"""People judge the answers of a run, from the command line to the judge card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.integration.conftest import Arena
from tests.unit.experiments.studies.review.reviewed_runs import Row, fill, rows_of


def in_gold(row: Row) -> dict[str, str]:
    gold = row["gold_answers"].split(" | ")
    return {"correct": "y" if row["answer"] in gold else "n", "every_statement_supported": "y"}


def test_a_review_reaches_the_judge_card(arena: Arena, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text() + "strategies: [closed_book, oracle]\n")
    assert arena("run", study, "--run-id", "r", "--judge", "fake:").code == 0
    run = tmp_path / "runs" / "r"
    sheet = tmp_path / "sheet.csv"
    exported = arena("review", "export", run, "--out", sheet)
    assert exported.code == 0, exported.err
    assert (
        exported.out == f"{sheet}: {len(rows_of(sheet))} answers to judge; {tmp_path / 'sheet.criteria.txt'} says how\n"
    )
    anna = fill(sheet, tmp_path / "anna.csv", in_gold)
    ben = fill(sheet, tmp_path / "ben.csv", lambda row: in_gold(row) | {"correct": "n"}, delimiter=";")
    first = arena("review", "import", run, anna, ben, "--json")
    assert first.code == 0, first.err
    found = json.loads(first.out)
    assert set(found["raters"]) == {"anna", "ben"}
    correct = next(one for one in found["criteria"] if one["criterion"] == "correct")
    assert [(pair["first"], pair["second"]) for pair in correct["raters"]] == [("anna", "ben")]
    assert {pair["first"] for pair in correct["others"]} == {"answer_em", "answer_accuracy"}
    card = next(one for one in board(run)["judges"] if one["metric"] == "answer_accuracy")
    human = next(one for one in card["agreements"] if one["other"] == "human")
    against = next(one for one in correct["others"] if one["first"] == "answer_accuracy")
    assert (human["n"], human["share"], human["kappa"]) == (against["n"], against["share"], against["kappa"])
    assert human["n"] > 0
    assert arena("verify", run).code == 0
    judged = arena("show", run)
    assert f"of {human['n']}" in judged.out
    printed = arena("review", "import", run, anna, ben)
    assert "unchanged: " in printed.out
    assert "anna and ben" in printed.out
    assert "nobody judged by right_format, answers_this_question" in printed.out


def board(run: Path) -> Any:
    return json.loads((run / "leaderboard.json").read_text(encoding="utf-8"))


def test_a_bad_sheet_ends_with_2_and_its_place(arena: Arena, study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text() + "strategies: [closed_book]\n")
    assert arena("run", study, "--run-id", "r").code == 0
    run, sheet = tmp_path / "runs" / "r", tmp_path / "sheet.csv"
    assert arena("review", "export", run, "--out", sheet, "--limit", "2", "--hide-gold").code == 0
    bad = fill(sheet, tmp_path / "bad.csv", lambda row: {"correct": "maybe"})
    refused = arena("review", "import", run, bad)
    assert (refused.code, refused.out) == (2, "")
    assert f"{bad}, line 2, column correct: 'maybe' is none of y, n, na" in refused.err
    assert not (run / "review.jsonl").exists()
    assert not (run / "labels.jsonl").exists()
