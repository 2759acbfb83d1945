from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.answer import any_script_normalised, contains, exact_match, musique_normalised, token_f1

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
    assert musique_normalised(text) == expected


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
    once = musique_normalised(text)
    assert musique_normalised(once) == once
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
    if musique_normalised(prediction) == musique_normalised(
        answers[-1]
    ):  # swapping case twice changes letters such as ß
        assert (exact_match(prediction, answers), token_f1(prediction, answers)) == (1.0, 1.0)
    framed = f"{decoration} {answers[-1]} {decoration}"
    if musique_normalised(answers[-1]):
        assert contains(framed, answers) == 1.0


@pytest.mark.parametrize(
    ("prediction", "gold"),
    [
        ("北京。", "北京"),
        ("中国 北京", "中国北京"),
        ("１９４９年", "1949年"),
        ("42。", "42"),
        ("约翰·史密斯", "约翰史密斯"),
        ("大韓民國", "大韓 民國"),
        ("「夏目 漱石」", "夏目漱石"),
        ("«Лев Толстой»", "лев толстой"),
        ("كِتَاب", "كتاب"),
        ("हिन्दी।", "हिन्दी"),
        ("ΟΔΥΣΣΕΎΣ", "Οδυσσεύς"),
        (unicodedata.normalize("NFD", "Zürich"), "Zürich"),
        (unicodedata.normalize("NFD", "한국"), "한국"),
    ],
)
def test_a_right_answer_is_right_in_any_script(prediction: str, gold: str) -> None:
    assert exact_match(prediction, [gold]) == token_f1(prediction, [gold]) == contains(prediction, [gold]) == 1.0


def test_characters_are_the_tokens_where_words_are_not_told_apart() -> None:
    assert token_f1("北京市", ["北京"]) == pytest.approx(4 / 5)
    assert contains("首都是北京市。", ["北京"]) == 1.0
    assert exact_match("北京市", ["北京"]) == 0.0


@given(st.text(), st.text())
def test_the_official_comparison_knows_one_normalisation(prediction: str, gold: str) -> None:
    same = musique_normalised(prediction) == musique_normalised(gold)
    assert exact_match(prediction, [gold], official=True) == float(same)


@given(st.text(st.characters(max_codepoint=0x24F, exclude_categories=("Cs", "M"))))
def test_text_in_latin_letters_is_compared_as_ever(text: str) -> None:
    assert exact_match(text, ["a \u201cb\u201d"]) == float(musique_normalised(text) == "\u201cb\u201d")


@given(st.text())
def test_normalising_twice_in_any_script_changes_nothing(text: str) -> None:
    once = any_script_normalised(text)
    assert any_script_normalised(once) == once
