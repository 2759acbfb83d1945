from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.text import sentences

PROSE = st.lists(
    st.sampled_from(["Tolm", "lies", "St.", "north.", "no.", "U.S.", "Yes!", "\n", '"', "1871", "\u2026"])
).map(" ".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Paris", ["Paris"]),
        ("St. Louis", ["St. Louis"]),
        ("J. R. R. Tolkien", ["J. R. R. Tolkien"]),
        ("Tolm is old. It lies north.", ["Tolm is old.", "It lies north."]),
        ("Born in the U.S. in 1892! Why? Nobody knows.", ["Born in the U.S. in 1892!", "Why?", "Nobody knows."]),
        ('He said "never." Then he left.', ['He said "never."', "Then he left."]),
        ("It rose 3.5 m. per year", ["It rose 3.5 m. per year"]),
        ("1. Tolm\n\n 2) Veyra\n- 1871. It rose", ["Tolm", "Veyra", "1871.", "It rose"]),
        ("Vitamin C.\nIron.", ["Vitamin C.", "Iron."]),
        ("  ", []),
        ("", []),
    ],
)
def test_by_hand(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(PROSE)
def test_nothing_but_white_space_is_lost(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences(text))
