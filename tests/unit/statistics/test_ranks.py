from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from arena.statistics.significance import possible_ranks


def test_by_hand() -> None:
    """0 beats 2 and 3, 1 beats 3."""
    assert possible_ranks(4, [(0, 2), (0, 3), (1, 3)]) == [
        (1, 2),
        (1, 3),
        (2, 4),
        (3, 4),
    ]


def test_without_wins_everyone_may_be_anywhere() -> None:
    assert possible_ranks(3, []) == [(1, 3)] * 3
    assert possible_ranks(0, []) == []


@given(st.integers(1, 6), st.data())
def test_the_true_rank_is_possible_where_no_win_is_false(n: int, drawn: st.DataObject) -> None:
    order = drawn.draw(st.permutations(range(n)))
    true_wins = [(order[high], order[low]) for high, low in combinations(range(n), 2)]
    found = drawn.draw(st.sets(st.sampled_from(true_wins))) if true_wins else set()
    ranks = possible_ranks(n, found)
    assert all(ranks[one][0] <= place <= ranks[one][1] for place, one in enumerate(order, 1))
