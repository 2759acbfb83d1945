"""Votes summed per option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from arena.text import ABSTENTION
from tests.scripted_writer import ScriptedWriter
from tests.unit.strategies.self_rag.shelf import Shelf, ask, of, shown

OPTIONS: dict[str, Any] = {"mode": "closed_set", "options": ("true", "false")}
CHOICE = {"d1": "A", "d2": "B", "d3": "B", None: "A"}
SUPPORT = {"d1": 0.9, "d2": 0.8, "d3": 0.7}


def judge(role: str, prompt: str, labels: Sequence[str]) -> str | Mapping[str, float]:
    if role in ("generate_segment", "generate_plain"):
        return CHOICE[shown(prompt)]
    if role == "judge_support":
        share = SUPPORT[shown(prompt) or ""]
        return {"fully": share, "none": 1 - share}
    return {"judge_utility": "3", "judge_relevance": "no"}.get(role, "yes")


def test_two_weaker_passages_outvote_a_stronger_one() -> None:
    attempt = ask(ScriptedWriter(verdict=judge), **OPTIONS)
    assert attempt.answer.text == "false"
    assert attempt.answer.used_ids == attempt.answer.cited_ids == ("doc-d2", "doc-d3")
    (select,) = of(attempt, "select")
    assert select.score == pytest.approx(1.5)
    assert select.changed == ("evidence", "answer")
    assert [each.choice for each in of(attempt, "critique")] == ["passed over", "kept", "kept"]


def test_the_options_stand_in_the_prompt_by_their_letters() -> None:
    writer = ScriptedWriter(verdict=judge)
    ask(writer, **OPTIONS)
    assert all("\nA: true\nB: false\n" in prompt for prompt in writer.prompts("generate_segment"))


def test_without_retrieval_there_is_one_vote() -> None:
    attempt = ask(ScriptedWriter(verdict=judge), Shelf(), retrieval="never", **OPTIONS)
    assert (attempt.answer.text, attempt.answer.used_ids) == ("true", ())


def test_unreadable_choices_do_not_vote() -> None:
    def mostly(role: str, prompt: str, labels: Sequence[str]) -> str | Mapping[str, float] | None:
        return None if role == "generate_segment" and shown(prompt) != "d1" else judge(role, prompt, labels)

    attempt = ask(ScriptedWriter(verdict=mostly), **OPTIONS)
    assert attempt.answer.text == "true"
    assert [each.choice for each in of(attempt, "critique")] == ["kept", "empty", "empty"]


def test_nothing_but_unreadable_choices_is_an_abstention() -> None:
    attempt = ask(ScriptedWriter(verdict=lambda role, prompt, labels: None), **OPTIONS)
    assert (attempt.answer.text, attempt.answer.abstained) == (ABSTENTION, True)
    assert [each.choice for each in of(attempt, "select")] == ["abstention"]
