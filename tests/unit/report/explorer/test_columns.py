from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.report.explorer.columns import Vocabulary, cut, figures, integers, n_cut

REALS = st.floats(allow_nan=False, allow_infinity=False)


def test_integers_are_written_as_they_are_and_none_as_less_than_any() -> None:
    assert integers([4, None, 0]) == [4, -1, 0]


@given(st.lists(REALS | st.none()))
def test_figures_are_written_as_the_text_that_is_shown(numbers: list[float | None]) -> None:
    rounded = [None if number is None else float(f"{number:.3g}") for number in numbers]
    written = figures(numbers)
    assert [None if text is None else float(text) for text in written] == rounded
    assert all(text is None or ("e" not in text and text != "-0") for text in written)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_not_known(number: float) -> None:
    assert figures([number, 1.0]) == [None, "1"]


def test_words_are_numbered_once_each() -> None:
    words = Vocabulary()
    assert [words.number(one) for one in ("a", None, "b", "a")] == [0, None, 1, 0]
    assert words.written() == ["a", "b"]


def test_a_cut_text_says_how_much_is_left() -> None:
    texts = [cut(text, 3) for text in ("abcdef", "abc", "")]
    assert texts == [("abc", 3), "abc", ""]
    assert n_cut(texts) == 1
    assert cut("abcdef", None) == "abcdef"
