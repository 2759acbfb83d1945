from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.config import LLMSettings, RunConfig
from arena.text import REASONING_MARKS, marked_as_thought
from arena.types import cut_before_speaking, holds_reasoning, was_cut, without_reasoning
from tests.unit.llm.asking import ask, scripted


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (" yes\n", "yes"),
        ("<think>hm</think>\nyes", "yes"),
        ("hm</THINK>yes", "yes"),
        ("so <think>hm</think>yes <think>or</think>no", "so yes no"),
        ("yes <think>or not", "yes"),
        ("<think>hm", ""),
        ("<think></think>", ""),
        ("", ""),
    ],
)
def test_what_is_said_beside_reasoning(text: str, left: str) -> None:
    assert without_reasoning(text) == left
    assert holds_reasoning(text) == ("think>" in text.lower())


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", "b ", "<"]), max_size=12).map("".join))
def test_nothing_is_left_of_reasoning(text: str) -> None:
    assert not holds_reasoning(without_reasoning(text))


@pytest.mark.parametrize(
    ("reason", "cut"),
    [("length", True), ("MAX_TOKENS", True), ("max_tokens", True), ("stop", False), ("end_turn", False), (None, False)],
)
def test_why_a_reply_ended(reason: str | None, cut: bool) -> None:
    assert was_cut(reason) == cut
    assert cut_before_speaking("", reason) == cut
    assert not cut_before_speaking("yes", reason)


def test_reasoning_without_an_end_was_cut_whatever_the_server_says() -> None:
    assert cut_before_speaking("<think>hm", "stop")
    assert not cut_before_speaking("<think>hm</think>", "stop")
    assert not cut_before_speaking("yes <think>or", "length")


MARKED = [
    ("<thinking>hm</thinking>Oster", "Oster"),
    ("<Thinking>hm</Thinking>\nOster", "Oster"),
    ("[THINK]hm[/THINK]Oster", "Oster"),
    ("<seed:think>hm</seed:think>Oster", "Oster"),
    ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Oster<|return|>", "Oster"),
    ("<|channel|>final<|message|>Oster", "Oster"),
    ("<think>hm</think>Oster</s>", "Oster"),
    ("Oster</s>", "Oster"),
    ("Oster <|im_end|>\n", "Oster"),
    ("<|start|>assistant Oster<|eot_id|>", "Oster"),
]


@pytest.mark.parametrize(("reply", "left"), MARKED)
def test_a_reply_is_read_without_its_marks(tmp_path: Path, reply: str, left: str) -> None:
    (read,) = ask(scripted(tmp_path, {"replies": [reply]}))
    assert without_reasoning(read.text or "") == left


@pytest.mark.parametrize("reply", ["[THINK]hm", "<thinking>hm", "<|channel|>analysis<|message|>hm"])
def test_reasoning_in_any_marks_may_have_no_end(tmp_path: Path, reply: str) -> None:
    (read,) = ask(scripted(tmp_path, {"replies": [reply]}))
    assert cut_before_speaking(read.text or "", "stop")


@pytest.mark.parametrize("text", ["Oster", " a <b> c\n", "I think so", "[think] he said", "x </s> y", ""])
def test_text_without_marks_stays_as_it_is(text: str) -> None:
    assert marked_as_thought(text) == text


def test_marks_are_a_setting(tmp_path: Path) -> None:
    settings = scripted(tmp_path, {"replies": ["{{hm}}Oster", "[THINK]hm[/THINK]Oster"]})
    own = settings.model_copy(update={"reasoning_marks": (("{{", "}}"),)})
    assert [without_reasoning(read.text or "") for read in ask(own, times=2)] == ["Oster", "[THINK]hm[/THINK]Oster"]


def test_a_run_is_the_same_one_until_marks_or_abstentions_are_set() -> None:
    plain = RunConfig().fingerprint_fields()
    assert "reasoning_marks" not in plain["llm"]
    assert "abstentions" not in plain
    spelt = RunConfig(llm=LLMSettings(reasoning_marks=REASONING_MARKS))
    assert spelt.fingerprint_fields() == plain
    assert RunConfig(llm=LLMSettings(reasoning_marks=(("{{", "}}"),))).fingerprint_fields() != plain
    assert RunConfig(abstentions=("je ne sais pas",)).fingerprint_fields() != plain


@pytest.mark.parametrize("pair", [("", "x"), ("x", "x"), (" ", "y")])
def test_marks_that_mark_nothing_are_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="OPENING, CLOSING"):
        LLMSettings(reasoning_marks=(pair,))
