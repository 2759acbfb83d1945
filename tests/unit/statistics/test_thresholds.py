from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.statistics.intervals import Resamples, draw_resamples, wilson_interval
from arena.statistics.thresholds import (
    ScoreSample,
    auc_interval,
    choose,
    keeps_at_least,
    largest_youden,
    refuses_at_least,
    trade_off,
)

SIDE = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12)


def scored(wanted: list[float], unwanted: list[float]) -> ScoreSample:
    """One question a thing."""
    n = len(wanted) + len(unwanted)
    return ScoreSample(np.array(wanted + unwanted), np.arange(n) < len(wanted), np.arange(n))


def resamples(things: ScoreSample, seed: int = 0, times: int = 300) -> Resamples:
    return draw_resamples(list(things.wanted), np.random.default_rng(seed), times)


def test_the_curve_worked_out_on_paper() -> None:
    curve = trade_off(scored([2.0, 3.0, 3.0], [1.0, 3.0]))
    assert curve.thresholds.tolist() == [-np.inf, 1.5, 2.5]
    assert curve.kept == pytest.approx([1.0, 1.0, 2 / 3])
    assert curve.refused.tolist() == [0.0, 0.5, 0.5]
    assert curve.youden == pytest.approx([0.0, 0.5, 1 / 6])
    assert curve.auc == pytest.approx((3 * 1 + 2 * 0.5) / 6)


@given(SIDE, SIDE)
def test_every_threshold_does_what_the_curve_says(wanted: list[float], unwanted: list[float]) -> None:
    curve = trade_off(scored(wanted, unwanted))
    for threshold, kept, refused in zip(curve.thresholds, curve.kept, curve.refused, strict=True):
        assert kept == pytest.approx(np.mean([one >= threshold for one in wanted]))
        assert refused == pytest.approx(np.mean([one < threshold for one in unwanted]))
    pairs = [(a > b) + (a == b) / 2 for a in wanted for b in unwanted]
    assert curve.auc == pytest.approx(np.mean(pairs))


@given(SIDE, SIDE)
def test_a_resample_weighs_each_question_as_often_as_it_was_drawn(wanted: list[float], unwanted: list[float]) -> None:
    things = scored(wanted, unwanted)
    drawn = resamples(things, times=5)
    curves = trade_off(things, drawn)
    for counts, kept, auc in zip(drawn.counts, curves.kept, curves.auc, strict=True):
        again = np.repeat(np.arange(things.scores.size), counts)
        if things.wanted[again].all() or not things.wanted[again].any():
            continue
        mine = trade_off(ScoreSample(things.scores[again], things.wanted[again], again))
        assert auc == pytest.approx(mine.auc)
        reached = [np.mean(things.scores[again][things.wanted[again]] >= one) for one in curves.thresholds]
        assert kept == pytest.approx(reached)


def test_a_resample_without_one_population_has_the_rates_of_all() -> None:
    things = scored([2.0, 3.0], [1.0])
    curves = trade_off(things, Resamples(np.array([[1, 2, 0], [1, 1, 1]], dtype=np.uint16)))
    assert curves.refused.tolist() == [[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    assert curves.auc.tolist() == [1.0, 1.0]


def test_of_equally_good_thresholds_the_one_that_keeps_more_is_chosen() -> None:
    things = scored([1.0, 3.0], [0.0, 2.0])
    curve = trade_off(things)
    assert curve.youden.tolist() == [0.0, 0.5, 0.0, 0.5]
    assert curve.thresholds[largest_youden(curve)] == 0.5


def test_what_tells_nothing_is_best_left_without_a_threshold() -> None:
    things = scored([1.0, 1.0], [1.0, 2.0])
    assert trade_off(things).thresholds[largest_youden(trade_off(things))] == -np.inf


@given(SIDE, SIDE, st.sampled_from([0.5, 0.8, 0.9, 1.0]))
def test_bounded_errors_are_bounded_and_no_more_is_given_up_than_need_be(
    wanted: list[float], unwanted: list[float], share: float
) -> None:
    curve = trade_off(scored(wanted, unwanted))
    low, high = int(keeps_at_least(share)(curve)), int(refuses_at_least(share)(curve))
    assert curve.kept[low] >= share - 1e-9
    assert not (curve.kept[low + 1 :] >= share).any()
    assert not (curve.refused[:high] >= share).any()
    assert curve.refused[high] >= share - 1e-9 or high == curve.thresholds.size - 1


def test_populations_far_apart_are_told_apart_for_certain() -> None:
    things = scored([5.0 + one / 10 for one in range(20)], [1.0 + one / 10 for one in range(20)])
    found = choose(things, largest_youden, resamples(things))
    assert 2.9 < found.threshold <= 5.0
    assert found.kept == found.refused == wilson_interval(np.ones(20))
    assert 0.9 < found.youden.low == found.youden.mean < 1.0  # a resample's best threshold may miss those at the edge
    assert auc_interval(things, resamples(things)).low == 1.0


def test_the_same_seed_gives_the_same_choice() -> None:
    noise = np.random.default_rng(3)
    things = scored(list(noise.normal(1, 1, 40)), list(noise.normal(0, 1, 40)))
    first, second = (choose(things, largest_youden, resamples(things)) for _ in range(2))
    assert first == second
    assert first.low <= first.threshold <= first.high


def test_scores_that_say_nothing_are_seldom_said_to_tell_anything() -> None:
    """The largest J of noise is never 0 on the questions that it was chosen on; less its optimism it is."""
    naive = honest = by_area = both = 0
    for seed in range(60):
        noise = np.random.default_rng(seed)
        things = scored(list(noise.normal(size=40)), list(noise.normal(size=40)))
        drawn = resamples(things, seed)
        found = choose(things, largest_youden, drawn)
        naive += found.kept.mean + found.refused.mean - 1.0 > 0.0
        honest += found.youden.low > 0.0
        by_area += (area := auc_interval(things, drawn).low > 0.5)
        both += area and found.youden.low > 0.0
    assert naive >= 58
    assert honest <= 6
    assert by_area <= 5
    assert both <= 3


def test_several_things_of_a_question_are_drawn_together() -> None:
    """Ten equal things of each question know no more than one: the interval is as wide."""
    noise = np.random.default_rng(5)
    one = scored(list(noise.normal(0.7, 1, 40)), list(noise.normal(0, 1, 40)))
    ten = ScoreSample(np.tile(one.scores, 10), np.tile(one.wanted, 10), np.tile(one.questions, 10))
    drawn = resamples(one, times=1000)
    assert auc_interval(ten, drawn) == auc_interval(one, drawn)
    alone, together = (choose(things, largest_youden, drawn) for things in (one, ten))
    assert together.youden == alone.youden
    for rate in (together.kept, together.refused):
        assert rate.low < rate.mean or rate.high > rate.mean


@pytest.mark.parametrize(
    ("wanted", "unwanted", "said"), [([], [1.0], "both"), ([1.0], [], "both"), ([float("nan")], [1.0], "finite")]
)
def test_what_cannot_be_parted_is_refused(wanted: list[float], unwanted: list[float], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        scored(wanted, unwanted)
