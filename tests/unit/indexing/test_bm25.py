from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.protocols import SparseVector
from indexing.bm25 import B, Bm25, K

CORPUS = ["the ship sailed", "a ship and another ship near the old harbour", "harbour"]
# terms left after stop words: ship sail | ship anoth ship near old harbour | harbour
AVERAGE_TERMS = (2 + 6 + 1) / 3


def weight(frequency: int, length: int) -> float:
    return frequency * (K + 1) / (frequency + K * (1 - B + B * length / AVERAGE_TERMS))


def test_average_length_counts_terms() -> None:
    assert Bm25().fitted(CORPUS).average_terms == pytest.approx(AVERAGE_TERMS)


def test_passage_weights_follow_the_formula() -> None:
    lane = Bm25().fitted(CORPUS)
    (ship,) = lane.queries(["ships"])[0].indices
    short, long, none = lane.passages(CORPUS)
    assert dict(zip(short.indices, short.values, strict=True))[ship] == pytest.approx(weight(1, 2), rel=1e-6)
    assert dict(zip(long.indices, long.values, strict=True))[ship] == pytest.approx(weight(2, 6), rel=1e-6)
    assert ship not in none.indices


def test_a_query_weighs_each_distinct_term_once() -> None:
    (query,) = Bm25().queries(["ship ship harbour"])
    assert query.values == (1.0, 1.0)


def test_stop_words_leave_nothing() -> None:
    assert Bm25().queries(["", "the of and"]) == (SparseVector((), ()), SparseVector((), ()))


def test_passages_need_the_corpus() -> None:
    with pytest.raises(ValueError, match="fitted"):
        Bm25().passages(["ship"])


def test_a_corpus_without_terms_is_no_division_by_zero() -> None:
    assert Bm25().fitted(["", "the"]).passages(["the"]) == (SparseVector((), ()),)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_term_counts_survive_saturation(counts: list[int]) -> None:
    text = " ".join(f"word{number}" for number, count in enumerate(counts) for _ in range(count))
    assert Bm25().fitted([text]).average_terms == sum(counts)
