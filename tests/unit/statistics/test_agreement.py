from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.statistics.intervals import cohens_kappa, krippendorffs_alpha

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


@given(PAIRS)
def test_it_is_symmetric_and_bounded(pairs: list[tuple[bool, bool]]) -> None:
    a, b = [one for one, _ in pairs], [one for _, one in pairs]
    kappa = cohens_kappa(a, b)
    assert kappa == cohens_kappa(b, a)
    assert kappa is None or -1.0 <= kappa <= 1.0


def test_krippendorffs_two_published_examples() -> None:
    """Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", sections A and C: 0.095 and 0.743."""
    meg, owen = "0100000010", "1110010000"
    assert krippendorffs_alpha(list(zip(meg, owen, strict=True))) == pytest.approx(0.095, abs=5e-4)
    observers = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    units = [[value for value in unit if value != "."] for unit in zip(*observers, strict=True)]
    assert krippendorffs_alpha(units) == pytest.approx(0.743, abs=5e-4)


def test_alpha_where_nothing_can_be_said_is_none() -> None:
    assert krippendorffs_alpha([]) is None
    assert krippendorffs_alpha([["y"], ["n"], []]) is None
    assert krippendorffs_alpha([["y", "y"], ["y", "y", "y"]]) is None
    assert krippendorffs_alpha([["y", "y"], ["n", "n"], ["y"]]) == 1.0


@given(st.lists(st.lists(st.sampled_from("ynx"), max_size=5), max_size=12), st.randoms())
def test_alpha_knows_no_order_and_is_at_most_one(units: list[list[str]], random: random.Random) -> None:
    alpha = krippendorffs_alpha(units)
    shuffled = [random.sample(unit, len(unit)) for unit in random.sample(units, len(units))]
    assert krippendorffs_alpha(shuffled) == (pytest.approx(alpha) if alpha is not None else None)
    assert alpha is None or alpha <= 1.0
