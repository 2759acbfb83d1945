from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arena.metrics.stats import Interval, Values, bootstrap_interval, percentile

VALUES = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def as_values(*values: float) -> Values:
    return np.array(values, dtype=np.float64)


def test_nothing_has_no_interval_and_one_value_has_no_width() -> None:
    assert bootstrap_interval(as_values(), rng()) is None
    assert bootstrap_interval(as_values(0.3), rng()) == Interval(0.3, 0.3, 0.3)
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
