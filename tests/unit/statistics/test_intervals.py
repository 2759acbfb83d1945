from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arena.statistics.intervals import (
    BOOTSTRAP_FLOOR,
    Interval,
    Values,
    bootstrap_interval,
    mean_interval,
    percentile,
    wilson_interval,
)

VALUES = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def as_values(*values: float) -> Values:
    return np.array(values, dtype=np.float64)


def test_under_two_values_nothing_is_known_of_their_spread() -> None:
    assert mean_interval(as_values(), rng()) is None
    assert mean_interval(as_values(1.0), rng()) is None
    assert mean_interval(as_values(1.0), rng(), binary=True) is None


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(10, 40, 0.1419, 0.4019), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 2, 0.0945, 0.9055)],
)
def test_wilson_by_hand(hits: int, n: int, low: float, high: float) -> None:
    interval = mean_interval((np.arange(n) < hits).astype(np.float64), rng(), binary=True)
    assert interval is not None
    assert (interval.mean, interval.low, interval.high) == pytest.approx((hits / n, low, high), abs=1e-4)


def test_wilson_refuses_what_is_no_share() -> None:
    assert wilson_interval(as_values()) is None
    for values in (as_values(0.5, 1.5), as_values(0.5, np.nan)):
        with pytest.raises(ValueError, match=r"must be in \[0, 1\]"):
            wilson_interval(values)
    with pytest.raises(ValueError, match="0 < level < 1"):
        wilson_interval(as_values(0.5), level=1.0)


def test_the_method_follows_from_the_values() -> None:
    many = rng(1).random(BOOTSTRAP_FLOOR)
    assert mean_interval(many, rng(2)) == bootstrap_interval(many, rng(2))
    for blind in (many[1:], np.full(50, 0.7)):
        assert mean_interval(blind, rng()) == wilson_interval(blind)
    assert mean_interval(np.full(50, 7.0), rng()) is None
    assert mean_interval(as_values(3.0, 7.0), rng()) is None
    assert mean_interval(many * 10, rng(2)) == bootstrap_interval(many * 10, rng(2))


@settings(derandomize=True, deadline=None)
@given(arrays(np.float64, st.integers(2, 40), elements=st.floats(0, 1)))
def test_an_interval_has_width_holds_the_mean_and_stays_in_range(values: Values) -> None:
    interval = mean_interval(values, rng())
    assert interval is not None
    assert 0.0 <= interval.low < interval.high <= 1.0
    if values.size < BOOTSTRAP_FLOOR:
        assert interval.low <= interval.mean <= interval.high


@pytest.mark.parametrize("n", [2, 3, 5, 10, 19])
def test_small_samples_are_covered_where_a_bootstrap_would_not(n: int) -> None:
    """A law like reciprocal rank's: 1 / r for r uniform on 1 to 7."""
    generator = rng(3)
    true_mean = sum(1 / rank for rank in range(1, 8)) / 7
    samples = [1.0 / generator.integers(1, 8, size=n) for _ in range(400)]
    ours = [mean_interval(values, generator) for values in samples]
    bootstrap = [bootstrap_interval(values, generator, resamples=200) for values in samples]
    assert coverage(ours, true_mean) >= 0.95
    assert coverage(bootstrap, true_mean) < 0.95


def coverage(intervals: Sequence[Interval | None], true_mean: float) -> float:
    return sum(one is not None and one.low <= true_mean <= one.high for one in intervals) / len(intervals)


def test_a_bootstrap_of_nothing_is_none_and_of_equal_values_has_no_width() -> None:
    assert bootstrap_interval(as_values(), rng()) is None
    assert bootstrap_interval(as_values(0.5, 0.5, 0.5), rng()) == Interval(0.5, 0.5, 0.5)


@settings(derandomize=True, deadline=None)
@given(VALUES)
def test_the_interval_lies_inside_the_values(values: Values) -> None:
    interval = bootstrap_interval(values, rng(), resamples=200)
    assert interval is not None
    slack = 1e-12
    assert values.min() - slack <= interval.low <= interval.high <= values.max() + slack
    assert interval.mean == pytest.approx(values.mean(), abs=1e-12)


def test_the_same_seed_gives_the_same_interval_in_any_order_of_values() -> None:
    values = rng(1).random(50)
    first = bootstrap_interval(values, rng(7))
    assert bootstrap_interval(values[::-1].copy(), rng(7)) == first
    assert bootstrap_interval(values, rng(8)) != first


def test_it_agrees_with_resampling_by_index() -> None:
    values = rng(2).choice([0.0, 0.25, 0.5, 1.0], size=120)
    means = values[rng(3).integers(0, values.size, size=(20_000, values.size))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    interval = bootstrap_interval(values, rng(4), resamples=20_000)
    assert interval is not None
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=0.004)


def test_it_covers_the_true_mean_as_often_as_it_says() -> None:
    generator = rng(5)
    intervals = [bootstrap_interval((generator.random(100) < 0.4).astype(float), generator, 500) for _ in range(300)]
    covered = sum(one is not None and one.low <= 0.4 <= one.high for one in intervals)
    assert 0.90 <= covered / 300 <= 0.99


def test_blocks_join_seamlessly() -> None:
    values = rng(6).random(3000)  # 2000 resamples of 3000 distinct values need more than one block
    interval = bootstrap_interval(values, rng(6))
    assert interval is not None
    error = values.std() / np.sqrt(values.size)
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_a_higher_level_is_wider() -> None:
    values = rng(9).random(40)
    narrow, wide = bootstrap_interval(values, rng(), level=0.5), bootstrap_interval(values, rng(), level=0.99)
    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_outside_zero_and_one_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="0 < level < 1"):
        bootstrap_interval(as_values(0.5), rng(), level=level)


def test_no_resamples_and_undefined_values_are_refused() -> None:
    with pytest.raises(ValueError, match="resamples >= 1"):
        bootstrap_interval(as_values(0.5), rng(), resamples=0)
    with pytest.raises(ValueError, match="must be finite"):
        bootstrap_interval(as_values(0.5, np.nan), rng())


@pytest.mark.parametrize(("q", "expected"), [(0, 1.0), (50, 2.5), (95, 3.85), (100, 4.0)])
def test_percentiles_interpolate_linearly(q: float, expected: float) -> None:
    assert percentile(as_values(4.0, 1.0, 3.0, 2.0), q) == pytest.approx(expected)


def test_nothing_has_no_percentile() -> None:
    assert percentile(as_values(), 50) is None
    assert percentile(as_values(2.5), 95) == 2.5
