from __future__ import annotations

import pytest

from arena.report.figures import UNDEFINED
from arena.report.question import changed_text, figure_text, request_text, visible_text
from arena.types import Decision, RetrievalRequest


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (0.5, "0.5"),
        (0.032786, "0.0328"),
        (0.0000339, "0.0000339"),
        (1234.5, "1230"),
        (-1.5, "-1.5"),
        (0.0, "0"),
        (12.0, "12"),
        (None, UNDEFINED),
    ],
)
def test_a_figure_has_three_digits_that_count_and_no_exponent(figure: float | None, text: str) -> None:
    assert figure_text(figure) == text


def test_a_request_says_what_its_mode_uses_and_no_more() -> None:
    assert request_text(RetrievalRequest("q", "dense", 5)) == "dense, k 5"
    full = RetrievalRequest("q", "hybrid_rerank", 10, 50, 60, "rrf", (0.7, 0.3), 0.15)
    assert request_text(full) == "hybrid_rerank, k 10, depth 50, rrf 60, weights 0.7 : 0.3, threshold 0.15"
    assert request_text(RetrievalRequest("q", "hybrid", 5, 50, fusion="dbsf")) == "hybrid, k 5, depth 50, dbsf"


def test_what_a_branch_changed() -> None:
    assert changed_text(Decision("a", "b", changed=("evidence", "query"))) == "evidence, query"
    assert changed_text(Decision("a", "b")) == "nothing"


def test_control_characters_are_shown_and_text_is_left_alone() -> None:
    assert visible_text("a\x1b[31mred\u202eevil\u200f") == "a<U+001B>[31mred<U+202E>evil<U+200F>"
    assert visible_text("two\nlines\tand \N{FAMILY} a\u200db \ud800") == "two\nlines\tand \N{FAMILY} a\u200db <U+D800>"
