"""The contamination probe from a run to what `arena show` says of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.integration.conftest import Arena


def test_on_the_fictional_world_the_fake_model_knows_no_more_than_chance(
    arena: Arena, study: Path, tmp_path: Path
) -> None:
    asked = ("--dataset", "world", "--strategies", "closed_book", "--run-id", "c")
    assert arena("run", study, *asked, "--no-report").code == 0
    board = json.loads((tmp_path / "runs" / "c" / "leaderboard.json").read_text(encoding="utf-8"))
    [probe] = board["contamination"]
    assert (probe["llm"], probe["finding"]) == ("fake:", "chance")
    assert probe["groups"][0]["n"] == 45
    assert all(one["p"] > 0.05 for one in probe["groups"][0]["metrics"].values())
    assert probe["left_out"] == {"summary": 6, "unanswerable": 9}
    shown = arena("show", tmp_path / "runs" / "c").out
    assert "no better than chance" in " ".join(shown.split())


def test_a_model_that_knows_the_answers_is_found_out(arena: Arena, study: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "known"
    made = arena("datasets", "make-world", "--documents", "60", "--questions", "20", "--seed", "3", "--out", corpus)
    assert made.code == 0, made.err
    rules = [
        f"  - when: {json.dumps(re.escape(question['question']))}\n    reply: {json.dumps(question['answers'][0])}\n"
        for line in (corpus / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        if (question := json.loads(line)).get("answers")
    ]
    script = tmp_path / "memory.yaml"
    script.write_text("rules:\n" + "".join(rules), encoding="utf-8")
    asked = ("--dataset", f"jsonl:{corpus}", "--strategies", "vanilla,closed_book", "--modes", "dense")
    assert arena("run", study, *asked, "--llm", f"fake:{script}", "--run-id", "m", "--no-report").code == 0
    board = json.loads((tmp_path / "runs" / "m" / "leaderboard.json").read_text(encoding="utf-8"))
    assert board["contamination"][0]["finding"] == "above_chance"
    gains = [cell["gain_over_closed_book"] for cell in board["cells"] if cell["strategy"] == "vanilla"]
    assert [gain["answer_em"]["difference"] for gain in gains] == [0.0]
    assert "of these answers without documents" in " ".join(arena("show", tmp_path / "runs" / "m").out.split())


def test_a_run_without_closed_book_says_how_to_probe(arena: Arena, study: Path, tmp_path: Path) -> None:
    assert arena("run", study, "--strategies", "vanilla", "--modes", "dense", "--run-id", "v", "--no-report").code == 0
    assert "not probed; add closed_book" in " ".join(arena("show", tmp_path / "runs" / "v").out.split())
