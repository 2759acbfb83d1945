from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.corrective.graph import trigger
from strategies.corrective.params import CorrectiveParams

PAPER = CorrectiveParams(evaluator="t5", checkpoint="folder").thresholds
SCORES = st.lists(st.floats(-1, 1), max_size=12)


@pytest.mark.parametrize(
    ("scores", "action"),
    [
        ([0.6, *[-1.0] * 9], "correct"),
        ([0.59, *[-1.0] * 9], "correct"),  # exactly at the upper threshold
        ([-0.5, *[-1.0] * 9], "ambiguous"),
        ([-0.99, *[-1.0] * 9], "ambiguous"),  # exactly at the lower one
        ([-1.0] * 10, "incorrect"),
        ([], "incorrect"),
    ],
)
def test_the_papers_table(scores: list[float], action: str) -> None:
    assert trigger(scores, PAPER).action == action


@given(SCORES, st.floats(-1, 1))
def test_one_more_passage_never_makes_the_retrieval_worse(scores: list[float], more: float) -> None:
    order = ["incorrect", "ambiguous", "correct"]
    assert order.index(trigger([*scores, more], PAPER).action) >= order.index(trigger(scores, PAPER).action)


@given(SCORES)
def test_one_good_passage_is_enough_whatever_the_others_are(scores: list[float]) -> None:
    """The inverted trigger of popular tutorials searches the web as soon as any passage is bad."""
    assert trigger([*scores, 0.7], PAPER).action == "correct"


@given(SCORES)
def test_the_threshold_named_is_the_one_that_decided(scores: list[float]) -> None:
    found = trigger(scores, PAPER)
    assert found.best == max(scores, default=None)
    assert found.threshold is (PAPER.upper if found.action == "correct" else PAPER.lower)
