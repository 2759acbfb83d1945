from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.engines.ranking import RESOLUTION, Ranked, has_ties, in_order, settled
from tests.brute_force import ranked

SCORES = st.lists(st.integers(0, 3).map(float), max_size=300)  # few values: ties everywhere
LAST_BITS = st.lists(st.tuples(st.integers(1, 9), st.integers(-2, 2)), min_size=1, max_size=60)


@given(SCORES, st.integers(1, 40), st.randoms(use_true_random=False))
def test_the_cut_does_not_depend_on_how_an_engine_breaks_ties(
    scores: list[float], limit: int, chance: random.Random
) -> None:
    points = [Ranked(position, score) for position, score in enumerate(scores)]

    def fetch(which: Sequence[int], n: int) -> list[list[Ranked]]:
        chance.shuffle(points)
        return [sorted(points, key=lambda point: -point.score)[:n] for _ in which]

    expected = tuple(sorted(points, key=lambda point: (-point.score, point.position))[:limit])
    assert settled(fetch, 3, limit) == [expected] * 3


@given(LAST_BITS, st.integers(1, 30))
def test_the_cut_does_not_depend_on_last_bits(scores: list[tuple[int, int]], limit: int) -> None:
    """`scores`: what a score is on paper, and by how many last bits of the best one an engine misses it."""
    last_bit = float(np.spacing(np.float32(max(whole for whole, _ in scores) / 10)))
    on_paper = {position: whole / 10 for position, (whole, _) in enumerate(scores)}
    computed = [Ranked(i, whole / 10 + bits * last_bit) for i, (whole, bits) in enumerate(scores)]
    row = sorted(computed, key=lambda one: -one.score)
    (lane,) = settled(lambda which, n: [row[:n] for _ in which], 1, limit)
    assert [one.position for one in lane] == ranked(on_paper, limit)
    assert [one.position for one in lane] == [i for i in sorted(on_paper, key=lambda i: (-on_paper[i], i))][:limit]


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


def test_scores_below_the_resolution_are_one_score() -> None:
    near = [Ranked(5, 1.0), Ranked(2, 1.0 - 0.9 * RESOLUTION), Ranked(9, 1.0 - 1.8 * RESOLUTION), Ranked(0, 0.9)]
    assert in_order(near) == (Ranked(2, 1.0), Ranked(5, 1.0), Ranked(9, 1.0), Ranked(0, 0.9))
    apart = [Ranked(5, 1.0), Ranked(2, 1.0 - 1.1 * RESOLUTION)]
    assert in_order(apart) == tuple(apart)


@given(st.lists(st.floats(-5, 5, allow_subnormal=False), max_size=60))
def test_order_is_total_and_final(scores: list[float]) -> None:
    ordered = in_order(Ranked(position, score) for position, score in enumerate(scores))
    assert list(ordered) == sorted(ordered, key=lambda point: (-point.score, point.position))
    assert in_order(reversed(ordered)) == ordered
