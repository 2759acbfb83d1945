"""Answers against the gold of others: what is skipped is 0."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.gaps import CROSSED, cross_scores

WORDS = st.lists(st.sampled_from(["The", "hill", "town", "1871", "of", "a", "."]), max_size=4).map(" ".join)


@given(
    predictions=st.lists(st.none() | WORDS, min_size=1, max_size=6),
    answers=st.lists(st.lists(WORDS, min_size=1, max_size=3), min_size=1, max_size=6),
    name=st.sampled_from(sorted(CROSSED)),
)
def test_every_pair_scores_as_if_it_were_compared(
    predictions: list[str | None], answers: list[list[str]], name: str
) -> None:
    rows = cross_scores(predictions, answers, CROSSED[name])
    for prediction, row in zip(predictions, rows, strict=True):
        for place, gold in enumerate(answers):
            expected = 0.0 if prediction is None else CROSSED[name](prediction, gold)
            assert row.get(place, 0.0) == expected
