from __future__ import annotations

import unicodedata

import pytest

from arena.text import abstains, content_words, lexical_form, searchable, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("北京是中国的首都。上海很大！人多吗？多。", ["北京是中国的首都。", "上海很大！", "人多吗？", "多。"]),
        ("「行くよ。」と言った。終わり。", ["「行くよ。」と言った。", "終わり。"]),
        ("他说：「走吧。」她走了。", ["他说：「走吧。」", "她走了。"]),
        ("यह एक है। दूसरा वाक्य॥ तीसरा", ["यह एक है।", "दूसरा वाक्य॥", "तीसरा"]),
        ("یہ ایک ہے۔ دوسرا؟ تیسرا۔", ["یہ ایک ہے۔", "دوسرا؟", "تیسرا۔"]),
        ("أين هو؟ هنا. انتهى.", ["أين هو؟", "هنا.", "انتهى."]),
        ("Սա մեկն է։ Երկրորդը։", ["Սա մեկն է։", "Երկրորդը։"]),
        ("ይህ አንድ ነው። ሁለተኛ።", ["ይህ አንድ ነው።", "ሁለተኛ።"]),
        ("Это т. е. дом. «Да», сказал он. Всё.", ["Это т. е. дом.", "«Да», сказал он.", "Всё."]),
        ("ეს არის. მეორე.", ["ეს არის.", "მეორე."]),
    ],
)
def test_sentences_end_where_their_script_ends_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize("text", ["Café Zürich", "한국어", "हिन्दी", "ガラス", "الكتاب"])
def test_composed_is_decomposed(text: str) -> None:
    assert lexical_form(unicodedata.normalize("NFD", text)) == lexical_form(text)
    assert content_words(unicodedata.normalize("NFD", text)) == content_words(text)


def test_full_width_is_half_width_and_optional_marks_are_optional() -> None:
    assert lexical_form("ＡＢＣ１２３") == "ABC123"
    assert content_words("كِتَاب") == content_words("كتاب") == content_words("الكتاب")


def test_scripts_without_spaces_are_read_by_pairs_of_characters() -> None:
    assert content_words("北京大学") == {"北京", "京大", "大学"}
    assert content_words("水") == {"水"}
    assert content_words("北京", singles=True) == {"北京", "北", "京"}
    assert content_words("हिन्दी भाषा") == {"हिन्दी", "भाषा"}
    assert searchable("iPhone手机", singles=False).split() == ["iPhone", "手机"]


def test_text_in_latin_letters_is_left_to_the_engine() -> None:
    for text in ("The café's U.S. well-known “x” — 5 €", "plain"):
        assert searchable(text, singles=True) == text


PHRASES = ("我不知道", "je ne sais pas")


@pytest.mark.parametrize(
    "text", ["我不知道。", "「我不知道」", "我不知道他是谁", "Je ne sais pas.", "JE NE SAIS PAS", "I don't know"]
)
def test_an_abstention_in_words_of_ones_own(text: str) -> None:
    assert abstains(text, PHRASES)


@pytest.mark.parametrize("text", ["Je ne sais pasteur", "巴黎", ""])
def test_other_words_are_no_abstention(text: str) -> None:
    assert not abstains(text, PHRASES)
