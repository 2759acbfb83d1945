from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.retrieval import support_em, support_f1

IDXS = st.lists(st.integers(0, 5), max_size=6)


@pytest.mark.parametrize(
    ("predicted", "gold", "em", "f1"),
    [
        ([1, 2, 5], [1, 5], 0.0, 0.8),
        ([5, 1, 1], [1, 5], 1.0, 1.0),
        ([2], [1, 5], 0.0, 0.0),
        ([], [1, 5], 0.0, 0.0),
        ([1], [], 0.0, 0.0),
        ([], [], 1.0, 1.0),
    ],
)
def test_by_hand(predicted: list[int], gold: list[int], em: float, f1: float) -> None:
    assert (support_em(predicted, gold), support_f1(predicted, gold)) == pytest.approx((em, f1))


@given(IDXS, IDXS)
def test_both_are_symmetric_and_blind_to_order_and_repetition(predicted: list[int], gold: list[int]) -> None:
    for metric in (support_em, support_f1):
        score = metric(predicted, gold)
        assert 0.0 <= score <= 1.0
        assert score == metric(gold, predicted) == metric([*reversed(predicted), *predicted], gold)
    assert (support_em(predicted, gold) == 1.0) == (support_f1(predicted, gold) == 1.0)
