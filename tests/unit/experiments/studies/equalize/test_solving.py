"""Knobs are turned one after the other, the allowance last."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from experiments.studies.equalize.contestants import AdjustableSetting, EqualizedEntry, Setting
from experiments.studies.equalize.search import Solution, SpendingPoint, solve
from strategies import find_variant

K = AdjustableSetting("retrieval.k", 1, 50, 5)
SENTENCES = AdjustableSetting("max_sentences", 1, 30, 8)
CAP = AdjustableSetting("allowance.tokens", 1, 20_000, 3_000)

Cost = Callable[[Setting], float]


def solved(
    cost: Cost, target: float, *knobs: AdjustableSetting, cap: AdjustableSetting | None = None, tolerance: float = 0.05
) -> Solution:
    def measure(setting: Setting) -> SpendingPoint:
        return SpendingPoint(setting, cost(setting), 10, 0, 0, "run")

    contestant = EqualizedEntry("ircot", "dense", find_variant("ircot"))
    return solve(contestant, knobs, target, tolerance, measure, lambda _: cap)


def coarse(setting: Setting) -> float:
    """A thousand for each passage, ten for each sentence."""
    spent = 1000.0 * setting.get("retrieval.k", 5) + 10.0 * setting.get("max_sentences", 8)
    return min(spent, setting.get("allowance.tokens", spent))


def test_the_own_setting_is_kept_where_it_is_near() -> None:
    found = solved(coarse, 5080.0, K, SENTENCES)
    assert (found.point.setting, found.reached) == ({}, True)


def test_one_knob_is_enough_where_its_steps_are_fine() -> None:
    found = solved(coarse, 20_100.0, K)
    assert dict(found.point.setting) == {"retrieval.k": 20}
    assert found.reached


def test_the_next_knob_goes_on_where_the_first_is_too_coarse() -> None:
    found = solved(coarse, 2_270.0, K, SENTENCES, tolerance=0.02)
    assert found.point.setting["retrieval.k"] == 2
    assert abs(found.point.deviation(2_270.0)) <= 0.02


def test_the_allowance_is_the_last_resort() -> None:
    without = solved(coarse, 2_500.0, K)
    assert without.reason == "its steps are wider than the tolerance"
    found = solved(coarse, 2_500.0, K, cap=CAP)
    assert found.reached
    assert found.point.capped
    assert found.point.setting["retrieval.k"] == 3


def test_an_allowance_is_not_taken_where_a_whole_answer_is_within_the_tolerance() -> None:
    found = solved(coarse, 10_300.0, K, cap=CAP)
    assert found.reached
    assert not found.point.capped


def test_what_no_setting_changes_is_said() -> None:
    found = solved(lambda _: 1.0, 9.0, K)
    assert (found.reached, found.reason) == (False, "no setting changes what it spends")
    assert found.point.spent == 1.0


def test_ends_of_the_range_are_said() -> None:
    assert solved(coarse, 80_000.0, K).reason == "it does not get dearer"
    assert solved(coarse, 500.0, K).reason == "it does not get cheaper"


def test_settings_that_fail_are_no_solution() -> None:
    def breaking(setting: Setting) -> float:
        return inf if setting.get("retrieval.k", 5) > 10 else coarse(setting)

    found = solved(breaking, 30_000.0, K)
    assert dict(found.point.setting) == {"retrieval.k": 10}
    assert found.reason == "it does not get dearer without failing questions"
