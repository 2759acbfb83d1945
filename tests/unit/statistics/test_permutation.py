from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from arena.statistics.intervals import Values
from arena.statistics.significance import paired_permutation

F1_LIKE = st.sampled_from([0.0, 0.25, 0.4, 0.5, 2 / 3, 0.8, 1.0])


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def p_of(differences: Values, permutations: int = 10_000, seed: int = 0) -> float:
    return float(paired_permutation(differences[:, np.newaxis], rng(seed), permutations)[0])


def scipy_p(differences: Values) -> float:
    """Two-sided by distance from 0, over all assignments."""
    found = stats.permutation_test(
        (differences, np.zeros_like(differences)),
        lambda x, y, axis: np.abs(np.mean(x - y, axis=axis)),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative="greater",
    )
    return float(found.pvalue)


@settings(max_examples=40)
@given(arrays(np.float64, (9, 2), elements=F1_LIKE))
def test_small_cases_equal_scipys_exact_test(scores: Values) -> None:
    differences = scores[:, 0] - scores[:, 1]
    assert p_of(differences) == pytest.approx(scipy_p(differences), abs=1e-12)


def test_by_hand() -> None:
    assert p_of(np.array([0.1, 0.2, 0.3])) == 2 / 8
    assert p_of(np.array([0.1, 0.2, -0.3])) == 1.0
    assert p_of(np.zeros(5)) == 1.0
    assert p_of(np.array([0.5])) == 1.0


def test_sums_that_differ_by_rounding_only_are_ties() -> None:
    """0.1 + 0.2 != 0.3 in floats; with the two kinds told apart p would be 0.25 or less."""
    assert p_of(np.array([0.3, 0.1, 0.2, -0.3, 0.3])) == pytest.approx(
        scipy_p(np.array([3.0, 1.0, 2.0, -3.0, 3.0])), abs=1e-12
    )


def test_differences_of_zero_and_missing_pairs_change_nothing() -> None:
    bare = np.array([0.5, 0.5, -0.25, 1.0, 0.75])
    padded = np.concatenate([bare, np.zeros(200), np.full(30, np.nan)])
    assert p_of(padded) == p_of(bare)
    assert np.isnan(p_of(np.full(4, np.nan)))


def test_sampling_agrees_with_enumeration() -> None:
    differences = rng(1).normal(0.2, 0.5, size=13)
    assert p_of(differences, permutations=4000) == pytest.approx(p_of(differences), abs=0.03)


def test_p_is_never_zero() -> None:
    assert p_of(np.full(500, 1.0), permutations=999) == 1 / 1000


def test_all_columns_are_tested_at_once_and_as_if_alone() -> None:
    table = rng(2).normal(0.05, 0.4, size=(200, 4))
    table[:190, 1] = 0.0
    table[::3, 2] = np.nan
    together = paired_permutation(table, rng(3))
    assert together == pytest.approx([p_of(column, seed=3) for column in table.T])


def test_it_keeps_its_level() -> None:
    """Under the null hypothesis, p <= 0.05 in at most 5 % of samples, give or take chance."""
    table = rng(4).choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=(60, 400))
    assert np.mean(paired_permutation(table, rng(5), 1000) <= 0.05) <= 0.08


def test_a_difference_is_as_likely_either_way() -> None:
    table = rng(6).normal(0.1, 0.4, size=(300, 3))
    assert paired_permutation(table, rng(7)).tolist() == paired_permutation(-table, rng(7)).tolist()


def test_the_same_seed_gives_the_same_p() -> None:
    differences = rng(8).normal(0.02, 0.4, size=100)
    assert p_of(differences, seed=1) == p_of(differences, seed=1) != p_of(differences, seed=2)


def test_no_permutations_are_refused() -> None:
    with pytest.raises(ValueError, match="permutations >= 1"):
        p_of(np.zeros(3), permutations=0)
