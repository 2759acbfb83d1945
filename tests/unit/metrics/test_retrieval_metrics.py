from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.metrics.retrieval import (
    full_recall,
    hit_at_k,
    precision,
    precision_at_k,
    recall,
    recall_at_k,
    reciprocal_rank,
)

IDS = st.lists(st.sampled_from("abcdef"), max_size=8)
CUTS = st.integers(-2, 9)
without_surprises = settings(derandomize=True, deadline=None)


@pytest.mark.parametrize(
    ("used", "gold", "expected"),
    [
        ("a", "ab", (0.5, 1.0, 0.0)),
        ("ab", "ab", (1.0, 1.0, 1.0)),
        ("abxy", "ab", (1.0, 0.5, 1.0)),
        ("xy", "ab", (0.0, 0.0, 0.0)),
        ("", "ab", (0.0, 0.0, 0.0)),
        ("aaax", "ab", (0.5, 0.5, 0.0)),
        ("a", "aab", (0.5, 1.0, 0.0)),
    ],
)
def test_sets_by_hand(used: str, gold: str, expected: tuple[float, float, float]) -> None:
    assert (recall(used, gold), precision(used, gold), full_recall(used, gold)) == expected


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (1, (0.0, 0.0, 0.0)),
        (2, (0.5, 0.5, 1.0)),
        (4, (1.0, 0.5, 1.0)),
        (8, (1.0, 0.25, 1.0)),
        (0, (0.0, 0.0, 0.0)),
        (-3, (0.0,) * 3),
    ],
)
def test_cuts_by_hand(k: int, expected: tuple[float, float, float]) -> None:
    ranked, gold = ["x", "a", "y", "b"], ["a", "b"]
    assert (recall_at_k(ranked, gold, k), precision_at_k(ranked, gold, k), hit_at_k(ranked, gold, k)) == expected


def test_a_repeated_document_takes_one_place() -> None:
    ranked = ["x", "x", "x", "a"]
    assert recall_at_k(ranked, ["a"], 2) == 1.0
    assert precision_at_k(ranked, ["a"], 2) == 0.5
    assert reciprocal_rank(ranked, ["a"]) == 0.5


def test_mean_reciprocal_rank_of_ranks_one_three_and_none() -> None:
    found = [reciprocal_rank(ranked, ["g"]) for ranked in (["g"], ["x", "y", "g"], ["x"])]
    assert found == [1.0, 1 / 3, 0.0]
    assert sum(value or 0.0 for value in found) / 3 == pytest.approx(0.444, abs=5e-4)


def test_without_gold_nothing_is_defined() -> None:
    assert recall(["a"], []) is None
    assert precision(["a"], []) is None
    assert full_recall([], []) is None
    assert reciprocal_rank(["a"], []) is None
    assert [metric(["a"], [], 0) for metric in (recall_at_k, precision_at_k, hit_at_k)] == [None] * 3


@without_surprises
@given(IDS, IDS.filter(bool))
def test_all_stay_in_the_unit_interval_and_agree_with_each_other(used: list[str], gold: list[str]) -> None:
    found, exact, whole = recall(used, gold), precision(used, gold), full_recall(used, gold)
    assert found is not None
    assert exact is not None
    assert 0.0 <= found <= 1.0
    assert 0.0 <= exact <= 1.0
    assert (found == 1.0) == (whole == 1.0)
    assert (found == 0.0) == (exact == 0.0) == (reciprocal_rank(used, gold) == 0.0)
    assert found * len(set(gold)) == pytest.approx(exact * len(set(used)))


@without_surprises
@given(IDS, IDS.filter(bool), CUTS)
def test_a_deeper_cut_never_finds_less(ranked: list[str], gold: list[str], k: int) -> None:
    here, deeper = recall_at_k(ranked, gold, k), recall_at_k(ranked, gold, k + 1)
    assert here is not None
    assert deeper is not None
    assert here <= deeper <= 1.0
    assert hit_at_k(ranked, gold, k) == float(here > 0)


@without_surprises
@given(IDS, IDS.filter(bool))
def test_order_and_repetition_of_sets_change_nothing(used: list[str], gold: list[str]) -> None:
    for metric in (recall, precision, full_recall):
        assert metric(used, gold) == metric([*reversed(used), *used], [*reversed(gold), *gold])


@without_surprises
@given(IDS, IDS.filter(bool))
def test_a_cut_beyond_the_ranking_is_the_set(ranked: list[str], gold: list[str]) -> None:
    assert recall_at_k(ranked, gold, len(ranked)) == recall(ranked, gold)
