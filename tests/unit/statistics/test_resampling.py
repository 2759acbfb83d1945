from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.statistics.intervals import STRATUM_FLOOR, Resamples, draw_resamples, percentile_interval


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=80), st.integers(0, 5))
def test_every_resample_holds_as_many_of_each_large_stratum_as_there_are(strata: list[str], seed: int) -> None:
    counts = draw_resamples(strata, rng(seed), 20).counts
    assert (counts.sum(axis=1) == len(strata)).all()
    sizes = {name: strata.count(name) for name in set(strata)}
    if all(size >= STRATUM_FLOOR for size in sizes.values()):
        for name, size in sizes.items():
            assert (counts[:, [one == name for one in strata]].sum(axis=1) == size).all()


def test_small_strata_are_pooled_so_that_each_question_can_vary() -> None:
    strata = ["big"] * 30 + [f"alone {place}" for place in range(12)]
    counts = draw_resamples(strata, rng(), 500).counts
    assert (counts[:, :30].sum(axis=1) == 30).all()
    assert (counts[:, 30:].std(axis=0) > 0.5).all()
    lone = draw_resamples(["big"] * 30 + ["alone"], rng(), 500).counts
    assert lone[:, 30].std() > 0.5


def test_stratifying_leaves_out_the_spread_between_strata() -> None:
    values = np.concatenate([rng(1).normal(0.2, 0.05, 60), rng(2).normal(0.8, 0.05, 60)])[:, np.newaxis]
    by_stratum = draw_resamples([0] * 60 + [1] * 60, rng()).means(values).std()
    assert by_stratum == pytest.approx(0.05 / np.sqrt(120), rel=0.2)
    assert draw_resamples([0] * 120, rng()).means(values).std() > 4 * by_stratum


def test_it_agrees_with_resampling_by_index() -> None:
    values = rng(2).choice([0.0, 0.25, 0.5, 1.0], size=120)
    means = values[rng(3).integers(0, values.size, size=(20_000, values.size))].mean(axis=1)
    drawn = draw_resamples([0] * 120, rng(4), 20_000).means(values[:, np.newaxis])[:, 0]
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.004)


def test_it_covers_the_true_mean_as_often_as_it_says() -> None:
    generator = rng(5)
    samples = [(generator.random(100) < 0.4).astype(float) for _ in range(300)]
    intervals = [
        percentile_interval(one, draw_resamples([0] * 100, generator, 500).means(one[:, np.newaxis])[:, 0])
        for one in samples
    ]
    assert 0.90 <= sum(one.low <= 0.4 <= one.high for one in intervals) / 300 <= 0.99


def test_clusters_of_several_values_are_drawn_whole() -> None:
    """Four equal values a question are worth one: the interval is as wide as with one each, not half as wide."""
    singles = rng(6).random(50)
    resamples = draw_resamples([0] * 50, rng())
    one_each = resamples.means(singles[:, np.newaxis])
    four_each = resamples.ratios(4.0 * singles[:, np.newaxis], np.full((50, 1), 4.0))
    assert four_each == pytest.approx(one_each)
    uneven = Resamples(np.array([[2, 1, 0], [0, 0, 3]], dtype=np.uint16))
    assert uneven.ratios(np.array([[3.0], [1.0], [0.0]]), np.array([[4.0], [1.0], [0.0]])).tolist() == [[7 / 9], [0.8]]


def test_missing_values_leave_a_column_and_no_other() -> None:
    table = rng(7).random((40, 3))
    resamples = draw_resamples([0] * 40, rng())
    whole = resamples.means(table)
    holed = table.copy()
    holed[::4, 1] = np.nan
    means = resamples.means(holed)
    assert means[:, [0, 2]] == pytest.approx(whole[:, [0, 2]])
    assert means[:, 1].mean() == pytest.approx(np.nanmean(holed[:, 1]), abs=0.02)
    assert not np.isnan(means).any()


def test_blocks_join_seamlessly() -> None:
    values = rng(6).random(3000)  # 2000 resamples of 3000 questions need more than one block
    means = draw_resamples([0] * 3000, rng(6)).means(values[:, np.newaxis])
    assert means.std() == pytest.approx(values.std() / np.sqrt(3000), rel=0.1)
    assert len(np.unique(means)) > 1900


def test_the_same_seed_gives_the_same_resamples() -> None:
    first, again, other = (draw_resamples([0] * 50, rng(seed)).counts for seed in (7, 7, 8))
    assert (first == again).all()
    assert (first != other).any()


def test_no_resamples_are_refused() -> None:
    with pytest.raises(ValueError, match="resamples >= 1"):
        draw_resamples([0], rng(), 0)


def test_means_are_the_same_to_the_bit_in_any_order_and_company() -> None:
    """Sums of floats depend on the order of additions, which differs between machines and numbers of threads."""
    table = rng(9).random((500, 6))
    resamples = draw_resamples([0] * 500, rng())
    order = rng(10).permutation(500)
    means = resamples.means(table)
    assert (Resamples(resamples.counts[:, order]).means(table[order]) == means).all()
    assert (resamples.means(table[:, 2:3])[:, 0] == means[:, 2]).all()
    plain = resamples.counts @ table / 500
    assert means == pytest.approx(plain, abs=1e-12)
