from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from arena.leaderboard.planes import pareto_front


def test_by_hand() -> None:
    points = [(0.5, 100.0), (0.6, 200.0), (0.4, 150.0), (0.5, 100.0), (0.5, 120.0)]
    assert pareto_front(points) == [True, True, False, True, False]


def test_unknown_is_never_on_the_front_and_beats_nobody() -> None:
    assert pareto_front([(None, 1.0), (0.9, None), (0.1, 500.0)]) == [False, False, True]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1e6)), min_size=1, max_size=12))
def test_the_best_and_the_cheapest_are_always_on_it(points: list[tuple[float, float]]) -> None:
    front = pareto_front(points)
    best = max(points, key=lambda point: (point[0], -point[1]))
    cheapest = min(points, key=lambda point: (point[1], -point[0]))
    assert front[points.index(best)]
    assert front[points.index(cheapest)]
