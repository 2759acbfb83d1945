from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import StrategyError
from arena.text import ABSTENTION, abstains
from arena.types import Passage
from strategies.answer import cited_documents, parse_answer, spoken


@pytest.mark.parametrize(
    ("reply", "text", "cited"),
    [
        ("Mirelle Ostrand", "Mirelle Ostrand", ()),
        ("Answer: 1871 [1]", "1871", (1,)),
        ("In 1871 [2][1], or [1, 3].", "In 1871, or.", (2, 1, 3)),
        ("  final answer:  Sarn \n", "Sarn", ()),
        ("The answer is: The Voaskund Company.", "The Voaskund Company.", ()),
        ("The answer is 1731", "1731", ()),
        ("The answering machine", "The answering machine", ()),
        ("Answer me", "Answer me", ()),
        ("**Answer:** Paris", "Paris", ()),
        ("**Answer**: Paris [1]", "Paris", (1,)),
        ("**Answer: Paris**", "Paris", ()),
        ("Answer: **Paris**.", "Paris.", ()),
        ("**The answer is** Paris", "Paris", ()),
        ("Final answer: `1731`", "1731", ()),
        ("***Paris***", "Paris", ()),
        ('"Paris".', "Paris.", ()),
        ("\u201cParis\u201d", "Paris", ()),
        ("_'Paris'_", "Paris", ()),
        ('"Heroes" and "Low"', '"Heroes" and "Low"', ()),
        ("M*A*S*H", "M*A*S*H", ()),
        ("*NSYNC", "*NSYNC", ()),
        ("[4]", "[4]", (4,)),
        ("Answer:", "Answer:", ()),
        ("**", "**", ()),
        ("<think>\nIs it [2]?\n</think>\n\nParis [1]", "Paris", (1,)),
        ("It is <THINK>hm</THINK>Paris", "It is Paris", ()),
        ("the prompt opened it, so [3].</think>Answer: Paris", "Paris", ()),
        ("<think>one</think><think>two</think>Paris", "Paris", ()),
    ],
)
def test_marks_and_labels_come_off(reply: str, text: str, cited: tuple[int, ...]) -> None:
    parsed = parse_answer(reply)
    assert (parsed.text, parsed.cited) == (text, cited)


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know",
        "i do not know.",
        "I don’t know!",
        "Answer: I don't know",
        "I don't know. The passages are silent.",
        "I don't know the answer.",
        "I don't know who founded the guild.",
        "I do not know based on the passages.",
        "I dont know",
        "I DON'T KNOW THE ANSWER",
        "I Don't Know.",
        "I Don't Know, sorry",
        '"I don\'t know"',
        "'I don't know.'",
        "\u201cI don\u2019t know\u201d",
        "**I don't know**",
        "*I don't know* who did.",
        "**Answer:** I don't know",
        "The answer is: I don't know [1]",
        "<think>Paris?</think>I don't know",
        "The passages do not contain the answer.",
        "The provided passages don't contain the answer to this question.",
        "The passage doesn't contain an answer.",
    ],
)
def test_abstentions(reply: str) -> None:
    assert parse_answer(reply).abstained


@pytest.mark.parametrize(
    "reply",
    [
        "I Don't Know How to Love Him",
        '"I Don\'t Know Why"',
        "He said I don't know",
        "I don't knowingly",
        "Unknown Pleasures",
        "I know: Ostrand",
        "The passages of the Alps",
        "<think>I don't know</think>Ostrand",
    ],
)
def test_answers_that_only_look_like_one(reply: str) -> None:
    assert not parse_answer(reply).abstained


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("", "is empty: if it was cut off, raise llm.max_tokens"),
        (" \n\u00a0", "is empty"),
        ("<think>Let me see", "was cut off while it reasoned: raise llm.max_tokens"),
        ("<think>Done.</think> Or <think>not", "was cut off while it reasoned"),
        ("<think>Let me see</think>\n", "is reasoning without an answer"),
        ("So it is Paris.</think>", "is reasoning without an answer"),
    ],
)
def test_a_reply_that_says_nothing_is_a_failure_not_an_abstention(reply: str, said: str) -> None:
    with pytest.raises(StrategyError, match=said):
        parse_answer(reply)


SAYING = st.text(min_size=1).filter(str.strip)
MARKUP = st.sampled_from(
    [
        "**",
        "*",
        "_",
        "`",
        '"',
        "'",
        "Answer:",
        "the answer is",
        "[1]",
        "[2, 3]",
        "<think>",
        "</think>",
        "x",
        " ",
        ".",
        "\n",
    ]
)


@given(SAYING | st.lists(MARKUP, max_size=12).map("".join))
def test_any_reply_is_read_or_refused(reply: str) -> None:
    try:
        parsed = parse_answer(reply)
    except StrategyError:
        assert not reply.strip() or "think>" in reply
    else:
        assert parsed.text == parsed.text.strip() != ""


@given(
    st.lists(MARKUP.filter(lambda mark: mark[0] not in "[<"), min_size=1, max_size=12).map("".join).filter(str.strip)
)
def test_what_was_read_reads_the_same_again(reply: str) -> None:
    assert parse_answer(parse_answer(reply).text).text == parse_answer(reply).text


@given(st.sampled_from(["I don't know", "i do not know", "The passages do not contain the answer"]), st.text())
def test_an_opening_abstains_however_it_goes_on(opening: str, rest: str) -> None:
    assert parse_answer(f"{opening} {rest.replace('<', '').replace('[', '')}").abstained


@given(st.text(), SAYING)
def test_reasoning_is_never_part_of_the_answer(thought: str, answer: str) -> None:
    thought, answer = thought.replace("<", ""), answer.replace("<", "x")
    assert spoken(f"<think>{thought}</think>{answer}") == spoken(answer) == answer.strip()


def test_the_words_the_prompt_asks_for_are_an_abstention() -> None:
    assert abstains(ABSTENTION)
    assert not abstains("Aslan")


def test_citations_are_documents_once_each_and_only_shown_ones() -> None:
    shown = [Passage("p1", "a", "", "", 0, 0), Passage("p2", "a", "", "", 0, 0), Passage("p3", "b", "", "", 0, 0)]
    assert cited_documents((3, 1, 2, 0, 9), shown) == ("b", "a")
