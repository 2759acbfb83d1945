from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics.retrieval import full_recall, precision, recall, set_f1

IDS = st.lists(st.sampled_from("abcdef"), max_size=8)


@pytest.mark.parametrize(
    ("found", "gold", "expected"),
    [
        ("a", "ab", (0.5, 1.0, 2 / 3, 0.0)),
        ("ab", "ab", (1.0, 1.0, 1.0, 1.0)),
        ("abxy", "ab", (1.0, 0.5, 2 / 3, 1.0)),
        ("xy", "ab", (0.0, 0.0, 0.0, 0.0)),
        ("", "ab", (0.0, 0.0, 0.0, 0.0)),
        ("aaax", "ab", (0.5, 0.5, 0.5, 0.0)),
        ("a", "aab", (0.5, 1.0, 2 / 3, 0.0)),
    ],
)
def test_sets_by_hand(found: str, gold: str, expected: tuple[float, float, float, float]) -> None:
    assert (recall(found, gold), precision(found, gold), set_f1(found, gold), full_recall(found, gold)) == expected


def test_without_gold_nothing_is_defined() -> None:
    assert [metric(["a"], []) for metric in (recall, precision, set_f1, full_recall)] == [None] * 4
    assert [metric([], []) for metric in (recall, precision, set_f1, full_recall)] == [None] * 4


@given(IDS, IDS.filter(bool))
def test_all_stay_in_the_unit_interval_and_agree_with_each_other(found: list[str], gold: list[str]) -> None:
    share, exact, balance, whole = (metric(found, gold) for metric in (recall, precision, set_f1, full_recall))
    assert share is not None
    assert exact is not None
    assert balance is not None
    assert 0.0 <= share <= 1.0
    assert 0.0 <= exact <= 1.0
    assert (share == 1.0) == (whole == 1.0)
    assert (share == 0.0) == (exact == 0.0) == (balance == 0.0)
    assert share * len(set(gold)) == pytest.approx(exact * len(set(found)))
    assert balance * (share + exact) == pytest.approx(2 * share * exact)


@given(IDS, IDS.filter(bool))
def test_order_and_repetition_of_sets_change_nothing(found: list[str], gold: list[str]) -> None:
    for metric in (recall, precision, set_f1, full_recall):
        assert metric(found, gold) == metric([*reversed(found), *found], [*reversed(gold), *gold])
