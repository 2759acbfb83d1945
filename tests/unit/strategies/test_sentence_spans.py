from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.answer import passage_sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It has 5. They left.", ["It has 5.", "They left."]),
        ("Rev. Ode Varn met J. R. Selm approx. Noon came.", ["Rev. Ode Varn met J. R. Selm approx. Noon came."]),
        ("  One.\n\nTwo!  (Three?) \n", ["One.", "Two!", "(Three?)"]),
        ("\u4e00\u3002\u4e8c\uff01", ["\u4e00\u3002", "\u4e8c\uff01"]),
        ("It cost 3.5 marks e.g. here", ["It cost 3.5 marks e.g. here"]),
        (" \n ", []),
    ],
)
def test_sentences_are_found(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in passage_sentences(text)] == found


@given(st.text(alphabet="aB. !?\u3002\n\"'"))
def test_nothing_but_white_space_is_left_out(text: str) -> None:
    spans = passage_sentences(text)
    assert "".join("".join(text[start:end] for start, end in spans).split()) == "".join(text.split())
    assert all(start < end for start, end in spans)
    assert [place for span in spans for place in span] == sorted(place for span in spans for place in span)
