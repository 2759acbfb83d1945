from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.engines.ranking import Ranked, has_ties, in_order, reciprocal_rank_fusion, settled

SCORES = st.lists(st.integers(0, 3).map(float), max_size=300)  # few values: ties everywhere


@given(SCORES, st.integers(1, 40), st.randoms(use_true_random=False))
def test_the_cut_does_not_depend_on_how_an_engine_breaks_ties(scores: list[float], limit: int, chance: object) -> None:
    points = [Ranked(position, score) for position, score in enumerate(scores)]

    def fetch(which: Sequence[int], n: int) -> list[list[Ranked]]:
        chance.shuffle(points)  # type: ignore[attr-defined]
        return [sorted(points, key=lambda point: -point.score)[:n] for _ in which]

    expected = tuple(sorted(points, key=lambda point: (-point.score, point.position))[:limit])
    assert settled(fetch, 3, limit) == [expected] * 3


def test_only_undecided_queries_are_asked_again() -> None:
    asked: list[tuple[list[int], int]] = []

    def fetch(which: Sequence[int], n: int) -> list[list[Ranked]]:
        asked.append((list(which), n))
        rows = {0: [Ranked(i, 1.0 - i) for i in range(1000)], 1: [Ranked(i, 1.0) for i in range(1000)]}
        return [rows[i][:n] for i in which]

    settled(fetch, 2, 4)
    assert asked == [([0, 1], 20), ([1], 160), ([1], 1280)]


def test_no_queries_no_fetch() -> None:
    assert settled(lambda which, n: pytest.fail("asked"), 0, 5) == []


def test_ties_are_seen() -> None:
    assert has_ties((Ranked(0, 2.0), Ranked(1, 1.0), Ranked(2, 1.0)))
    assert not has_ties((Ranked(0, 2.0), Ranked(1, 1.0)))
    assert not has_ties(())


def test_fusion_by_hand() -> None:
    dense = (Ranked(7, 0.9), Ranked(3, 0.8), Ranked(5, 0.1))
    sparse = (Ranked(3, 11.0), Ranked(9, 2.0))
    fused = reciprocal_rank_fusion((dense, sparse), 60)
    assert [ranked.position for ranked in fused] == [3, 7, 9, 5]
    assert [ranked.score for ranked in fused] == pytest.approx([1 / 61 + 1 / 60, 1 / 60, 1 / 61, 1 / 62], rel=1e-6)


def test_fusion_breaks_its_many_ties_by_position() -> None:
    mirrored = reciprocal_rank_fusion(((Ranked(8, 3.0), Ranked(2, 1.0)), (Ranked(2, 3.0), Ranked(8, 1.0))), 60)
    assert [ranked.position for ranked in mirrored] == [2, 8]
    assert mirrored[0].score == mirrored[1].score


@given(SCORES)
def test_order_is_total(scores: list[float]) -> None:
    ranked = in_order(Ranked(position, score) for position, score in enumerate(scores))
    assert list(ranked) == sorted(ranked, key=lambda point: (-point.score, point.position))
    assert in_order(reversed(ranked)) == ranked
