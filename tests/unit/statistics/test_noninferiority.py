from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.statistics.intervals import Resamples, Values, draw_resamples
from arena.statistics.noninferiority import (
    Change,
    decide,
    family_wise,
    least_p,
    mean_change,
    no_worse_p,
    quantile_change,
    ratio_change,
    smallest_caught,
)
from arena.statistics.significance import holm

LEVEL = 0.05


def resamples(n: int, seed: int = 0, drawn: int = 2000) -> Resamples:
    return draw_resamples([0] * n, np.random.default_rng(seed), drawn)


def values(*numbers: float) -> Values:
    return np.array(numbers, dtype=np.float64)


def mean_of(differences: Sequence[float] | Values, worst: Values | None = None) -> Change:
    array = np.asarray(differences, dtype=np.float64)
    counted = array if worst is None else worst
    change = mean_change(array, counted, resamples(len(counted)), LEVEL)
    assert change is not None
    return change


def change(estimate: float, low: float | None, *, identical: bool = False) -> Change:
    return Change(100, 20, estimate, low, 0.01, identical)


@pytest.mark.parametrize(
    ("seen", "p", "outcome"),
    [
        (change(-0.06, -0.08), 0.01, "fail"),
        (change(-0.05, -0.07), 0.05, "fail"),
        (change(-0.06, -0.08), 0.06, "inconclusive"),
        (change(-0.02, -0.04), 0.001, "pass"),
        (change(-0.02, -0.06), 0.001, "inconclusive"),
        (change(0.1, 0.05), 1.0, "pass"),
        (change(0.0, None), 1.0, "inconclusive"),
        (change(0.0, None, identical=True), 1.0, "pass"),
    ],
)
def test_three_outcomes_against_a_margin_of_five_points(seen: Change, p: float, outcome: str) -> None:
    assert decide(seen, 0.05, p, LEVEL) == outcome


def test_a_regression_of_exactly_the_margin_reaches_it() -> None:
    ten_points = mean_of([-0.1] * 30)
    assert ten_points.estimate == pytest.approx(-0.1, abs=1e-12)
    assert decide(ten_points, 0.1, 0.001, LEVEL) == "fail"


@settings(max_examples=60)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=2, max_size=60), st.floats(0.01, 0.5))
def test_no_change_both_passes_and_fails(differences: list[float], margin: float) -> None:
    seen = mean_of(differences)
    assert seen.low is not None
    assert seen.low <= seen.estimate
    if decide(seen, margin, 0.0, LEVEL) == "fail":
        assert not seen.low > -margin


def test_equal_scores_are_identical_and_promise_only_what_so_many_questions_can() -> None:
    few, many = mean_of(np.zeros(20)), mean_of(np.zeros(2000))
    assert few.identical
    assert many.identical
    assert few.low is not None
    assert many.low is not None
    assert few.low < -0.1 < -0.002 < many.low < 0.0


def test_what_is_not_known_counts_against_the_new() -> None:
    differences = np.zeros(40)
    unknown = np.concatenate([differences, np.full(10, -1.0)])
    seen = mean_of(differences, unknown)
    assert not seen.identical
    assert seen.estimate == 0.0
    assert seen.low is not None
    assert seen.low < -0.2
    assert decide(seen, 0.1, 1.0, LEVEL) == "inconclusive"


@pytest.mark.parametrize(("share", "n"), [(0.02, 120), (0.1, 120), (0.3, 60), (0.05, 500)])
def test_the_bound_lies_above_the_truth_in_at_most_about_five_percent(share: float, n: int) -> None:
    """Questions lose half a point with probability `share` and gain one with half of it: nothing on average."""
    rng = np.random.default_rng(7)
    drawn = resamples(n, drawn=500)
    above = 0
    for _ in range(400):
        fate = rng.random(n)
        differences = np.where(fate < share, -0.5, np.where(fate > 1.0 - share / 2.0, 1.0, 0.0))
        seen = mean_change(differences, differences, drawn, LEVEL)
        assert seen is not None
        assert seen.low is not None
        above += seen.low > 0.0
    assert above / 400 <= 0.075


def test_fewer_than_two_pairs_say_nothing() -> None:
    assert mean_change(values(0.5), values(0.5), resamples(1), LEVEL) is None


def test_a_ratio_of_sums() -> None:
    old = np.linspace(50.0, 150.0, 40)
    seen = ratio_change(old * 1.2, old, resamples(40), 0.1, LEVEL)
    assert seen is not None
    assert seen.estimate == pytest.approx(-0.2)
    assert seen.low == pytest.approx(-0.2)
    same = ratio_change(old, old, resamples(40), 0.1, LEVEL)
    assert same is not None
    assert (same.identical, same.low, same.error) == (True, None, None)


def test_a_ratio_to_nothing_and_one_without_spread_are_not_made_up() -> None:
    assert ratio_change(values(1.0, 1.0), values(0.0, 0.0), resamples(2), 0.1, LEVEL) is None
    constant = ratio_change(np.array([101.0] + [100.0] * 39), np.full(40, 100.0), resamples(40), 0.1, LEVEL)
    assert constant is not None
    assert constant.low is None
    assert decide(constant, 0.1, 1.0, LEVEL) == "inconclusive"


def test_a_ratio_of_percentiles_and_its_p() -> None:
    rng = np.random.default_rng(3)
    old = rng.lognormal(0.0, 0.3, 200)
    slower, same_law = old * 2.0, rng.permutation(old)
    found = quantile_change(slower, old, resamples(200), 95, LEVEL)
    assert found is not None
    seen, p = found
    assert seen.estimate == pytest.approx(-1.0)
    assert p == pytest.approx(1 / 2001)
    again = quantile_change(same_law, old, resamples(200), 95, LEVEL)
    assert again is not None
    assert again[0].estimate == pytest.approx(0.0)
    assert again[1] > 0.05
    assert quantile_change(slower[:19], old[:19], resamples(19), 95, LEVEL) is None


def test_p_is_half_of_the_two_sided_one_and_only_of_what_is_worse() -> None:
    table = np.column_stack([np.full(6, -1.0), np.full(6, 1.0), np.full(6, np.nan), np.zeros(6)])
    assert no_worse_p(table, np.random.default_rng(0), LEVEL) == [2.0**-6, 1.0, 1.0, 1.0]
    assert least_p(6) == 2.0**-6
    assert no_worse_p(np.empty((0, 2)), np.random.default_rng(0), LEVEL) == [1.0, 1.0]


def test_a_check_that_cannot_be_significant_does_not_weaken_the_others() -> None:
    assert family_wise([0.03, 1.0, 1.0, 1.0], [0.0001, 0.5, 1.0, 0.25], LEVEL) == [0.03, 1.0, 1.0, 1.0]
    all_can = [0.0001] * 4
    assert family_wise([0.03, 1.0, 1.0, 1.0], all_can, LEVEL) == holm([0.03, 1.0, 1.0, 1.0])
    assert family_wise([], [], LEVEL) == []
    assert family_wise([0.25], [0.25], LEVEL) == [1.0]


def test_the_family_fails_by_chance_in_at_most_five_percent() -> None:
    """Ten checks, half of them on very few questions, none of them worse."""
    rng = np.random.default_rng(11)
    false_alarms = 0
    for _ in range(300):
        table = rng.choice([-1.0, 0.0, 1.0], size=(40, 10), p=[0.1, 0.8, 0.1])
        table[6:, 5:] = 0.0
        least = [least_p(int(np.count_nonzero(column))) for column in table.T]
        p = family_wise(no_worse_p(table, rng, LEVEL), least, LEVEL)
        false_alarms += min(p) <= LEVEL
    assert false_alarms / 300 <= 0.07


@pytest.mark.parametrize(("error", "margin"), [(0.01, 0.05), (0.03, 0.05), (0.05, 0.02)])
def test_what_it_says_it_catches_it_catches_four_times_in_five(error: float, margin: float) -> None:
    truth = smallest_caught(error, margin, LEVEL)
    seen = np.random.default_rng(5).normal(-truth, error, 20_000)
    caught = (seen <= -margin) & (seen / error <= -1.6448536)
    assert np.mean(caught) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("power", "level"), [(0.0, 0.05), (1.0, 0.05), (0.8, 0.0), (0.8, 1.0)])
def test_a_power_or_level_that_is_none_is_refused(power: float, level: float) -> None:
    with pytest.raises(ValueError, match="inside"):
        smallest_caught(0.01, 0.05, level, power)
