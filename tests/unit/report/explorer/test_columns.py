from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.report.explorer.columns import DIGITS, Figures, Integers, Steps, Vocabulary, cut_all, n_cut, planes
from arena.report.question import figure_text
from tests.unit.report.explorer.island import figures, integers, steps

COUNTS = st.integers(0, 2**40)
REALS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(COUNTS | st.none()))
def test_integers_come_back(numbers: list[int | None]) -> None:
    assert integers(Integers(numbers).written()) == numbers


@given(st.lists(COUNTS))
def test_steps_come_back(numbers: list[int]) -> None:
    assert steps(Steps(numbers).written()) == numbers


def test_numbers_that_follow_each_other_are_one_digit_each() -> None:
    assert Steps(range(500)).written() == [DIGITS[1] * 500]


@given(st.lists(REALS | st.none()))
def test_figures_come_back_with_three_digits(numbers: list[float | None]) -> None:
    rounded = [None if number is None else float(f"{number:.3g}") for number in numbers]
    assert figures(Figures(numbers).written()) == rounded


@given(st.integers(100, 999), st.integers(-9, 9), st.sampled_from(["5", "49999", "50001"]))
def test_a_half_is_rounded_as_text_is(whole: int, power: int, beyond: str) -> None:
    number = float(f"{whole}.{beyond}e{power}")
    assert figures(Figures([number]).written()) == [float(Decimal(figure_text(number)))]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_not_known(number: float) -> None:
    assert figures(Figures([number, 1.0]).written()) == [None, 1.0]


def test_a_column_of_nothing_is_empty_and_one_of_none_is_not() -> None:
    assert planes([]) == []
    assert planes([None, None]) == ["AA"]


def test_no_number_is_below_zero() -> None:
    with pytest.raises(ValueError, match="-3"):
        planes([4, -3])


def test_words_are_numbered_once_each() -> None:
    words = Vocabulary()
    assert [words.number(one) for one in ("a", None, "b", "a")] == [0, None, 1, 0]
    assert words.written() == ["a", "b"]


def test_a_cut_text_says_how_much_is_left() -> None:
    cut = cut_all(["abcdef", "abc", ""], 3)
    assert cut == [("abc", 3), "abc", ""]
    assert n_cut(cut) == 1
    assert cut_all(["abcdef"], None) == ["abcdef"]
