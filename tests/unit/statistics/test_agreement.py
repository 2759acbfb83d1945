from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.statistics.agreement import cohens_kappa

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40)


def ratings(both: int, only_a: int, only_b: int, neither: int) -> tuple[list[bool], list[bool]]:
    a = [True] * (both + only_a) + [False] * (only_b + neither)
    b = [True] * both + [False] * only_a + [True] * only_b + [False] * neither
    return a, b


def test_by_hand() -> None:
    """Of 50, agreement on 35: 0.7 observed, 0.5 * 0.6 + 0.5 * 0.4 = 0.5 by chance."""
    assert cohens_kappa(*ratings(20, 5, 10, 15)) == pytest.approx(0.4)


def test_perfect_chance_and_opposite() -> None:
    assert cohens_kappa(*ratings(3, 0, 0, 4)) == 1.0
    assert cohens_kappa(*ratings(5, 5, 5, 5)) == 0.0
    assert cohens_kappa(*ratings(0, 5, 5, 0)) == -1.0


def test_where_nothing_can_be_said_there_is_none() -> None:
    assert cohens_kappa([], []) is None
    assert cohens_kappa([True, True], [True, True]) is None
    assert cohens_kappa([True, True], [True, False]) == 0.0
    with pytest.raises(ValueError, match="two ratings of each thing, not 1 and 2"):
        cohens_kappa([True], [True, False])


@settings(derandomize=True, deadline=None)
@given(PAIRS)
def test_it_is_symmetric_and_bounded(pairs: list[tuple[bool, bool]]) -> None:
    a, b = [one for one, _ in pairs], [one for _, one in pairs]
    kappa = cohens_kappa(a, b)
    assert kappa == cohens_kappa(b, a)
    assert kappa is None or -1.0 <= kappa <= 1.0
