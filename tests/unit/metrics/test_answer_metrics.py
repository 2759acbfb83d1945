from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.answer import contains, exact_match, normalise, token_f1

TEXTS = st.text(max_size=30) | st.lists(st.sampled_from(["a", "the", "An", "U.S.", "ship", "Ship!", "-"])).map(" ".join)
ANSWERS = st.lists(TEXTS, min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The U.S. Navy", "us navy"),
        ("well-known", "wellknown"),
        ("  An   apple,\ta\npear ", "apple pear"),
        ("the", ""),
        ("Theatre and anthem", "theatre and anthem"),
        ("A.N. Other", "other"),
        ("th'e end", "end"),
        ("Ør\u2013Vik", "ør\u2013vik"),
        ("...", ""),
        ("", ""),
    ],
)
def test_normalise_by_hand(text: str, expected: str) -> None:
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("prediction", "answers", "em", "f1", "contained"),
    [
        ("us navy", ["The U.S. Navy"], 1.0, 1.0, 1.0),
        ("Paris", ["Paris, France"], 0.0, 2 / 3, 0.0),
        ("It was Paris, France.", ["Paris France"], 0.0, 2 / 3, 1.0),
        ("", ["the"], 1.0, 1.0, 1.0),
        ("", ["Paris"], 0.0, 0.0, 0.0),
        ("Paris", ["the"], 0.0, 0.0, 0.0),
        ("the bus", ["us"], 0.0, 0.0, 0.0),
        ("France Paris", ["Paris France"], 0.0, 1.0, 0.0),
        ("tick", ["tick tick"], 0.0, 2 / 3, 0.0),
        ("tick tick", ["tick tock"], 0.0, 0.5, 0.0),
        ("New York", ["NYC", "the New York"], 1.0, 1.0, 1.0),
    ],
)
def test_scores_by_hand(prediction: str, answers: list[str], em: float, f1: float, contained: float) -> None:
    assert exact_match(prediction, answers) == em
    assert token_f1(prediction, answers) == pytest.approx(f1, abs=1e-12)
    assert contains(prediction, answers) == contained


def test_without_answers_nothing_is_defined() -> None:
    assert [metric("x", []) for metric in (exact_match, token_f1, contains)] == [None] * 3


@given(TEXTS)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert once == " ".join(once.split())
    assert not {"a", "an", "the"} & set(once.split())


@given(TEXTS, ANSWERS)
def test_scores_are_bounded_and_ordered(prediction: str, answers: list[str]) -> None:
    em, f1, contained = exact_match(prediction, answers), token_f1(prediction, answers), contains(prediction, answers)
    assert em is not None
    assert f1 is not None
    assert contained is not None
    assert em in (0.0, 1.0)
    assert contained in (0.0, 1.0)
    assert em <= f1 <= 1.0
    assert em <= contained


@given(TEXTS, TEXTS)
def test_f1_is_symmetric_in_its_two_texts(one: str, other: str) -> None:
    assert token_f1(one, [other]) == token_f1(other, [one])


@given(TEXTS, ANSWERS, TEXTS)
def test_another_alias_never_lowers_a_score(prediction: str, answers: list[str], alias: str) -> None:
    for metric in (exact_match, token_f1, contains):
        before, after = metric(prediction, answers), metric(prediction, [*answers, alias])
        assert before is not None
        assert after is not None
        assert after >= before


@given(TEXTS, ANSWERS)
def test_an_answer_matches_itself_in_any_dress(decoration: str, answers: list[str]) -> None:
    prediction = f" THE {answers[-1].swapcase().swapcase()}!"
    if normalise(prediction) == normalise(answers[-1]):  # swapping case twice changes letters such as ß
        assert (exact_match(prediction, answers), token_f1(prediction, answers)) == (1.0, 1.0)
    framed = f"{decoration} {answers[-1]} {decoration}"
    if normalise(answers[-1]):
        assert contains(framed, answers) == 1.0
