"""Answers that go with their questions are told from answers that would go with any."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from arena.statistics.significance import Crossed, chance_levels, deal, shuffle_test

ALL = np.ones((6, 1), dtype=bool)


def whole(scores: np.ndarray) -> Crossed:
    return Crossed(np.arange(len(scores), dtype=np.intp), scores)


def p_of(block: Crossed, seed: int = 0, shuffles: int = 2_000) -> float:
    members = np.ones((len(block.rows), 1), dtype=bool)
    return float(shuffle_test([block], members, np.random.default_rng(seed), shuffles)[0])


def test_the_chance_level_leaves_the_own_gold_out() -> None:
    scores = np.array([[1.0, 0.5, 0.1], [0.0, 1.0, 0.0], [0.3, 0.3, 1.0]])
    assert chance_levels([whole(scores)], 4)[:3] == pytest.approx([0.3, 0.0, 0.3])
    assert np.isnan(chance_levels([whole(scores)], 4)[3])
    assert np.isnan(chance_levels([whole(np.ones((1, 1)))], 1)[0])


def test_p_is_that_of_all_orders() -> None:
    scores = np.array([[0.9, 0.1, 0.2, 0.4], [0.3, 0.7, 0.1, 0.5], [0.6, 0.2, 0.8, 0.0], [0.1, 0.4, 0.3, 0.2]])
    seen = scores.trace()
    sums = [sum(scores[row, place] for row, place in enumerate(order)) for order in permutations(range(4))]
    exact = np.mean([one >= seen - 1e-9 for one in sums])
    assert p_of(whole(scores), shuffles=20_000) == pytest.approx(exact, abs=0.01)


def test_knowing_one_in_five_of_sixty_is_found_and_knowing_none_is_not() -> None:
    scores = np.zeros((60, 60))
    scores[range(12), range(12)] = 1.0
    assert p_of(whole(scores)) < 0.001
    assert p_of(whole(np.zeros((60, 60)))) == 1.0


def test_a_popular_answer_is_no_knowledge() -> None:
    scores = np.zeros((40, 40))
    scores[:, :10] = 1.0  # everybody says what is right of ten questions
    assert p_of(whole(scores)) == 1.0


def test_under_the_null_p_is_not_too_small() -> None:
    rng = np.random.default_rng(5)
    found = [p_of(whole((rng.random((30, 30)) < 0.05).astype(float)), seed, shuffles=200) for seed in range(300)]
    assert np.mean([one <= 0.05 for one in found]) <= 0.08


def test_groups_are_tested_apart_on_the_same_orders() -> None:
    scores = np.zeros((20, 20))
    scores[range(10), range(10)] = 1.0
    members = np.zeros((20, 3), dtype=bool)
    members[:10, 0] = members[10:, 1] = True
    p = shuffle_test([whole(scores)], members, np.random.default_rng(0))
    assert p[0] < 0.001
    assert p[1] == 1.0
    assert np.isnan(p[2])


def test_parts_are_nearly_equal_and_hold_every_row_once() -> None:
    parts = deal(list(range(0, 2300, 2)), 500, np.random.default_rng(0))
    assert [len(part) for part in parts] == [384, 383, 383]
    assert sorted(int(row) for part in parts for row in part) == list(range(0, 2300, 2))
    assert deal([], 500, np.random.default_rng(0)) == []
