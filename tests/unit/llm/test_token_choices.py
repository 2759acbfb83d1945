from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm.labels import choices_of_text, cut_at, read_choices
from arena.protocols import TokenChoice


def item(token: str, logprob: float, **top: float) -> dict[str, Any]:
    return {
        "token": token,
        "logprob": logprob,
        "bytes": list(token.encode()),
        "top_logprobs": [{"token": text, "logprob": value} for text, value in top.items()],
    }


def choices(*texts: str) -> tuple[TokenChoice, ...]:
    return tuple(TokenChoice(text, -1.0, {}) for text in texts)


def texts(found: tuple[TokenChoice, ...]) -> list[str]:
    return [choice.text for choice in found]


def test_the_form_of_chat_completions_is_read() -> None:
    found = read_choices({"content": [item("yes", -0.1, yes=-0.1, no=-2.5), item(".", -0.2)]})
    assert found == (TokenChoice("yes", -0.1, {"yes": -0.1, "no": -2.5}), TokenChoice(".", -0.2, {}))


def test_the_form_of_text_completions_is_read() -> None:
    found = read_choices(
        {"tokens": ["yes", "."], "token_logprobs": [-0.1, -0.2], "top_logprobs": [{"yes": -0.1, "no": -2.5}, None]}
    )
    assert found == (TokenChoice("yes", -0.1, {"yes": -0.1, "no": -2.5}), TokenChoice(".", -0.2, {}))


def test_alternatives_spelt_alike_are_added_up() -> None:
    same = [{"token": "a", "logprob": math.log(0.25)}, {"token": "a", "logprob": math.log(0.5)}]
    (found,) = read_choices({"content": [{"token": "a", "logprob": math.log(0.5), "top_logprobs": same}]})
    assert found.alternatives == pytest.approx({"a": math.log(0.75)})


def test_a_probability_of_zero_is_kept_and_none_is_above_one() -> None:
    (found,) = read_choices({"tokens": ["a"], "token_logprobs": [0.001], "top_logprobs": [{"b": -math.inf}]})
    assert found == TokenChoice("a", 0.0, {"b": -math.inf})


def test_a_character_of_several_tokens_is_spelt_by_the_last() -> None:
    first, second = "\u00eb".encode()
    halves = [{"token": "\ufffd", "bytes": [byte], "logprob": -1.0} for byte in (first, second)]
    assert texts(read_choices({"content": [*halves, item("!", -1.0)]})) == ["", "\u00eb", "!"]


@pytest.mark.parametrize(
    "logprobs",
    [
        None,
        {},
        [],
        "no",
        {"content": None},
        {"content": [{"token": "a"}]},
        {"content": [None]},
        {"content": [{"token": "a", "logprob": math.nan}]},
        {"content": [{"token": "a", "logprob": None}]},
        {"tokens": ["a", "b"], "token_logprobs": [-1.0]},
        {"tokens": ["a"], "token_logprobs": [None]},
    ],
)
def test_what_is_in_no_known_form_is_no_tokens(logprobs: Any) -> None:
    assert read_choices(logprobs) == ()


@pytest.mark.parametrize(
    ("tokens", "text", "kept"),
    [
        (["yes", "."], "yes.", ["yes", "."]),
        ([" yes", ".", "\n"], "yes.", [" yes", "."]),
        (["yes", "\n"], "yes\n", ["yes", "\n"]),
        (["yes", "<|im_end|>"], "yes", ["yes"]),
        (["yes", "</s>", ""], "yes", ["yes"]),
        (["<think>", "no or yes", "</think>", "\n", "yes"], "yes", ["yes"]),
        (["hm", "yes", "yes", "<|im_end|>"], "yes", ["yes"]),
        (["yes", "no"], "yes", []),
        (["something", " else"], "yes", []),
        (["yes"], "", []),
        ([], "yes", []),
    ],
)
def test_only_the_tokens_of_the_reply_are_its_tokens(tokens: list[str], text: str, kept: list[str]) -> None:
    assert texts(choices_of_text(choices(*tokens), text)) == kept


@pytest.mark.parametrize(
    ("tokens", "text", "stop", "left", "kept"),
    [
        (["a", " b", "\n", "c"], "a b\nc", ("\n",), "a b", ["a", " b"]),
        (["a", " b", "\n", "c"], "a b\nc", ("c", "b"), "a ", ["a", " b"]),
        (["a"], "a", ("\n",), "a", ["a"]),
        (["a"], "a", ("",), "a", ["a"]),
        (["a"], "a", (), "a", ["a"]),
        (["\n", "a", "b", "c"], "abc", ("c",), "ab", ["a", "b"]),
        ([], "abc", ("b",), "a", []),
        (["a", "b"], "ab", ("a",), "", []),
    ],
)
def test_a_reply_ends_before_the_first_stop(
    tokens: list[str], text: str, stop: tuple[str, ...], left: str, kept: list[str]
) -> None:
    found = cut_at(text, choices(*tokens), stop)
    assert (found[0], texts(found[1])) == (left, kept)


PIECES = st.lists(st.text("ab <\n", min_size=1, max_size=3), max_size=8)


@given(PIECES, PIECES)
def test_tokens_after_reasoning_spell_the_reply(before: list[str], reply: list[str]) -> None:
    text = "".join(reply).strip()
    kept = choices_of_text(choices(*before, *reply), text)
    assert text in "".join(texts(kept)) if text else kept == ()


@given(PIECES, st.lists(st.text("ab\n", max_size=2), max_size=3))
def test_no_stop_is_left_in_a_reply(reply: list[str], stop: list[str]) -> None:
    left, kept = cut_at("".join(reply), choices(*reply), stop)
    assert not any(word and word in left for word in stop)
    assert "".join(texts(kept)).startswith(left)
