from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.corrective.evaluator import keywords_prompt
from strategies.corrective.refining import parse_keywords


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Selm Quay, harbour, planner", ("Selm Quay", "harbour", "planner")),
        ("Keywords: Selm Quay, harbour", ("Selm Quay", "harbour")),
        ("**Keywords:**\nSelm Quay, harbour", ("Selm Quay", "harbour")),
        ('"Selm Quay", `harbour`.\n\nThese should find it.', ("Selm Quay", "harbour")),
        ("a, b, c, d", ("a", "b", "c")),
        ("harbour, Harbour, , harbour ,quay", ("harbour", "quay")),
        ("<think>so, what</think>quay", ("quay",)),
        ("I don't know", ()),
        ("", ()),
        ("<think>cut off", ()),
        (" , ,, ", ()),
        ("To find who planned it one would have to search for the harbour", ()),
        ("{question}, {0}", ("{question}", "{0}")),
    ],
)
def test_a_reply_is_read_strictly(reply: str, expected: tuple[str, ...]) -> None:
    assert parse_keywords(reply, 3) == expected


@given(st.text(), st.integers(1, 3))
def test_any_reply_gives_distinct_keywords_and_never_too_many(reply: str, most: int) -> None:
    found = parse_keywords(reply, most)
    assert len(found) <= most
    assert len({keyword.casefold() for keyword in found}) == len(found)
    assert all(keyword.strip() == keyword != "" and "," not in keyword for keyword in found)


@given(st.text(alphabet="{}0abc %s$"))
def test_the_question_is_put_in_whatever_braces_it_has(question: str) -> None:
    """The released code's doubled braces never put it in at all."""
    assert keywords_prompt(question, 3)[-1].content == f"Question: {question}\nKeywords:"


def test_the_example_has_no_more_keywords_than_are_wanted() -> None:
    assert keywords_prompt("Who?", 1)[2].content == "Selm Quay"
    assert "at most 1 " in keywords_prompt("Who?", 1)[0].content
