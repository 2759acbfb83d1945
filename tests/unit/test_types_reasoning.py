from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.types import cut_before_speaking, holds_reasoning, was_cut, without_reasoning


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
