from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.types import Passage
from strategies.parsing import cited_documents, parse_answer


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
        ("[4]", "", (4,)),
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
        "",
        " [1] ",
    ],
)
def test_abstentions(reply: str) -> None:
    assert parse_answer(reply).abstained


@pytest.mark.parametrize(
    "reply", ["I don't know Mirelle is a song", "He said I don't know", "Unknown Pleasures", "I know: Ostrand"]
)
def test_answers_that_only_look_like_one(reply: str) -> None:
    assert not parse_answer(reply).abstained


@given(st.text())
def test_any_reply_is_read(reply: str) -> None:
    parsed = parse_answer(reply)
    assert parsed.abstained or parsed.text
    assert parse_answer(parsed.text).cited == () or "[" in parsed.text


def test_citations_are_documents_once_each_and_only_shown_ones() -> None:
    shown = [Passage("p1", "a", "", "", 0, 0), Passage("p2", "a", "", "", 0, 0), Passage("p3", "b", "", "", 0, 0)]
    assert cited_documents((3, 1, 2, 0, 9), shown) == ("b", "a")
