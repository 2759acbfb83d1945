from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arena.statistics.intervals import (
    BOOTSTRAP_FLOOR,
    SPREAD_FLOOR,
    Interval,
    Values,
    difference_interval,
    draw_resamples,
    mean_interval,
    percentile,
    percentile_interval,
    wilson_interval,
)

NOTHING = np.empty(0)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def as_values(*values: float) -> Values:
    return np.array(values, dtype=np.float64)


def resampled(values: Values, seed: int = 0, resamples: int = 2000) -> Values:
    return draw_resamples([0] * values.size, rng(seed), resamples).means(values[:, np.newaxis])[:, 0]


def test_under_two_values_nothing_is_known_of_their_spread() -> None:
    assert mean_interval(as_values(), NOTHING) is None
    assert mean_interval(as_values(1.0), NOTHING) is None
    assert mean_interval(as_values(1.0), NOTHING, binary=True) is None
    assert difference_interval(as_values(0.5), NOTHING) is None


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(10, 40, 0.1419, 0.4019), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (1, 2, 0.0945, 0.9055)],
)
def test_wilson_by_hand(hits: int, n: int, low: float, high: float) -> None:
    interval = mean_interval((np.arange(n) < hits).astype(np.float64), NOTHING, binary=True)
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
    assert mean_interval(many, resampled(many)) == percentile_interval(many, resampled(many))
    for blind in (many[1:], np.full(50, 0.7)):
        assert mean_interval(blind, resampled(blind)) == wilson_interval(blind)
    assert mean_interval(np.full(50, 7.0), np.full(9, 7.0)) is None
    assert mean_interval(as_values(3.0, 7.0), NOTHING) is None
    assert mean_interval(many * 10, resampled(many * 10)) == percentile_interval(many * 10, resampled(many * 10))


def test_strata_without_spread_inside_are_no_certainty() -> None:
    values = np.repeat([0.2, 0.8], 20)
    means = draw_resamples(np.repeat([0, 1], 20).tolist(), rng()).means(values[:, np.newaxis])[:, 0]
    assert mean_interval(values, means) == wilson_interval(values)


@given(arrays(np.float64, st.integers(2, 40), elements=st.floats(0, 1)))
def test_an_interval_has_width_holds_the_mean_and_stays_in_range(values: Values) -> None:
    interval = mean_interval(values, resampled(values, resamples=200))
    assert interval is not None
    assert -1e-12 <= interval.low < interval.high <= 1.0 + 1e-12
    if values.size < BOOTSTRAP_FLOOR:
        assert interval.low <= interval.mean <= interval.high


@pytest.mark.parametrize("n", [2, 3, 5, 10, 19])
def test_small_samples_are_covered_where_a_bootstrap_would_not(n: int) -> None:
    """A law like reciprocal rank's: 1 / r for r uniform on 1 to 7."""
    generator = rng(3)
    true_mean = sum(1 / rank for rank in range(1, 8)) / 7
    samples = [1.0 / generator.integers(1, 8, size=n) for _ in range(400)]
    ours = [mean_interval(values, NOTHING) for values in samples]
    bootstrap = [percentile_interval(values, resampled(values, resamples=200)) for values in samples]
    assert coverage(ours, true_mean) >= 0.95
    assert coverage(bootstrap, true_mean) < 0.95


def rarely(n: int, share: float, generator: np.random.Generator) -> Values:
    """0 but for about a `share` of the values, which are uniform on [0, 1]; the mean of the law is share / 2."""
    return np.where(generator.random(n) < share, generator.random(n), 0.0)


@pytest.mark.parametrize("interval", [mean_interval, difference_interval])
@pytest.mark.parametrize(("n", "share"), [(25, 0.1), (60, 0.06), (120, 0.03), (500, 0.01)])
def test_what_rests_on_a_few_values_is_covered_where_a_bootstrap_would_not(
    n: int, share: float, interval: Callable[[Values, Values], Interval | None]
) -> None:
    generator = rng(5)
    samples = [rarely(n, share, generator) for _ in range(300)]
    means = [resampled(values, seed, resamples=300) for seed, values in enumerate(samples)]
    ours = [interval(*pair) for pair in zip(samples, means, strict=True)]
    bootstrap = [percentile_interval(*pair) for pair in zip(samples, means, strict=True)]
    assert coverage(ours, share / 2) >= 0.95 > coverage(bootstrap, share / 2)


def test_one_value_more_or_less_does_not_turn_no_knowledge_into_certainty() -> None:
    """With no difference at all an interval has width; one difference among sixty narrows it by little."""
    widths = []
    for differing in range(SPREAD_FLOOR):
        differences = np.where(np.arange(60) < differing, 0.5, 0.0)
        interval = difference_interval(differences, resampled(differences))
        assert interval is not None
        widths.append(interval.high - interval.low)
    assert widths == sorted(widths)


def test_cells_that_never_differ_are_known_to_be_close() -> None:
    interval = difference_interval(np.zeros(60), np.zeros(9))
    wilson = wilson_interval(np.zeros(60), level=0.975)
    assert wilson is not None
    assert interval == Interval(0.0, -wilson.high, wilson.high)


@pytest.mark.parametrize("n", [2, 3, 10, 19, 100])
def test_a_difference_is_covered_as_often_as_it_says(n: int) -> None:
    """Of two cells that are right or wrong alike on seven of ten questions."""
    generator = rng(4)
    samples = [generator.choice([-1.0, 0.0, 1.0], size=n, p=[0.1, 0.7, 0.2]) for _ in range(300)]
    intervals = [difference_interval(values, resampled(values, resamples=400)) for values in samples]
    assert coverage(intervals, 0.1) >= 0.9


def coverage(intervals: Sequence[Interval | None], true_mean: float) -> float:
    return sum(one is not None and one.low <= true_mean <= one.high for one in intervals) / len(intervals)


@given(arrays(np.float64, st.integers(2, 40), elements=st.floats(-1, 1)))
def test_the_interval_of_a_difference_turns_with_it(differences: Values) -> None:
    forth = difference_interval(differences, resampled(differences, resamples=200))
    back = difference_interval(-differences, -resampled(differences, resamples=200))
    assert forth is not None
    assert back is not None
    assert (back.mean, back.low, back.high) == pytest.approx((-forth.mean, -forth.high, -forth.low), abs=1e-9)
    assert forth.low < forth.high


def test_a_higher_level_is_wider() -> None:
    values = rng(9).random(40)
    narrow, wide = (mean_interval(values, resampled(values), level=level) for level in (0.5, 0.99))
    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_outside_zero_and_one_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="0 < level < 1"):
        percentile_interval(as_values(0.5), as_values(0.5), level=level)


@pytest.mark.parametrize(("q", "expected"), [(0, 1.0), (50, 2.5), (95, 3.85), (100, 4.0)])
def test_percentiles_interpolate_linearly(q: float, expected: float) -> None:
    assert percentile(as_values(4.0, 1.0, 3.0, 2.0), q) == pytest.approx(expected)


def test_nothing_has_no_percentile() -> None:
    assert percentile(as_values(), 50) is None
    assert percentile(as_values(2.5), 95) == 2.5
