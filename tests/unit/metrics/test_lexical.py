from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.answer import SUPPORTED_AT, is_supported, share_found, statements, supported_share
from arena.text import STOP_WORDS, content_words

WEIR = "Orlen Weir\nThe weir was built in 1871 by Mirelle Ostrand, who'd trained as a glass-blower."
WORDS = st.lists(st.sampled_from(["weir", "Ostrand", "1871", "the", "Narnia", "of", "built"]), max_size=8)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Weir, the WEIR and a weir", {"weir"}),
        ("Mirelle Ostrand\u2019s well-known work", {"mirelle", "ostrand", "known", "work"}),
        ("They're O'Brien's", {"o'brien"}),
        ("It did not, and doesn't", {"not", "doesn't"}),
        ("1871\u20131902", {"1871", "1902"}),
        ("\uff34olm stra\u00dfe STRASSE", {"tolm", "strasse"}),
        ("it is of the", set()),
        ("... -- _", set()),
        ("", set()),
    ],
)
def test_content_words_by_hand(text: str, words: set[str]) -> None:
    assert content_words(text) == words


def test_negations_and_words_that_are_answers_are_content() -> None:
    assert not {"not", "never", "without", "nor", "neither", "nobody", "none", "one", "may", "us"} & STOP_WORDS
    assert all(word == word.casefold() for word in STOP_WORDS)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("1871", 1.0),
        ("Mirelle Ostrand built it in 1871.", 1.0),
        ("Mirelle Ostrand built it in 1902.", 1.0),  # three of four words: the test is coarse
        ("Narnia", 0.0),
        ("It was built in 1871. Aslan of Narnia opened it.", 0.5),
        ("It was built in 1871. So it was.", 1.0),
    ],
)
def test_supported_share_by_hand(answer: str, expected: float) -> None:
    assert supported_share(answer, [WEIR]) == expected


def test_seven_of_ten_words_are_enough_and_six_are_not() -> None:
    (statement,) = statements("k1 k2 k3 k4 k5 k6 k7 k8 k9 k10")
    assert SUPPORTED_AT == 0.7
    assert is_supported(statement, ["k1 k2 k3 k4 k5 k6 k7"])
    assert not is_supported(statement, ["k1 k2 k3 k4 k5 k6"])
    assert share_found(statement, ["k1 k2", "k2 k3"]) == 0.3


def test_texts_carry_a_statement_together() -> None:
    assert supported_share("Orlen runs to Tammerhold", ["Orlen runs", "Tammerhold"]) == 1.0


def test_nothing_shown_carries_nothing() -> None:
    assert supported_share("Narnia", []) == 0.0
    assert supported_share("Narnia", [""]) == 0.0


@pytest.mark.parametrize("answer", ["", "It is so.", "..."])
def test_an_answer_that_states_nothing_is_undefined(answer: str) -> None:
    assert statements(answer) == ()
    assert supported_share(answer, [WEIR]) is None


@given(WORDS, WORDS, WORDS)
def test_more_text_never_supports_less(answer: list[str], text: list[str], more: list[str]) -> None:
    said, shown = " ".join(answer), " ".join(text)
    here, further = supported_share(said, [shown]), supported_share(said, [shown, " ".join(more)])
    assert (here is None) == (further is None) == (not content_words(said))
    if here is not None and further is not None:
        assert 0.0 <= here <= further <= 1.0


@given(WORDS)
def test_a_text_supports_itself_in_any_order(text: list[str]) -> None:
    if content_words(" ".join(text)):
        assert supported_share(" ".join(text), [" ".join(reversed(text)).upper()]) == 1.0


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("北京是首都。", "中华人民共和国的首都是北京。北京是首都。"),
        ("Столица - Москва.", "Москва, столица России"),
        ("東京", "首都は東京です。"),
        ("水。", "水在零度时结冰"),
        ("عاصمة مصر", "القاهرة هي العاصمة في مصر"),
    ],
)
def test_what_stands_there_is_carried_in_any_script(answer: str, shown: str) -> None:
    assert supported_share(answer, [shown]) == 1.0


def test_what_stands_nowhere_is_not_carried_in_any_script() -> None:
    assert supported_share("上海是港口。", ["北京是首都。"]) == 0.0
