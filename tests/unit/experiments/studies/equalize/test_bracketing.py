"""A growing cost is met as near as whole numbers allow, with few looks."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.studies.equalize.search import MAX_LOOKS, bracket


class Priced:
    """A cost that is looked at; `looks` are the values, in order."""

    def __init__(self, slope: float, rest: float, power: float = 1.0, breaks: float = inf) -> None:
        self._slope, self._rest, self._power, self._breaks = slope, rest, power, breaks
        self.looks: list[int] = []

    def at(self, value: int) -> float:
        return inf if value > self._breaks else self._rest + self._slope * value**self._power

    def __call__(self, value: int) -> float:
        self.looks.append(value)
        return self.at(value)


@given(
    slope=st.floats(1.0, 1000.0),
    steps=st.floats(0.0, 20.0),
    start=st.integers(1, 300),
    wanted=st.integers(1, 300),
)
def test_neighbours_part_the_target_of_an_affine_cost(slope: float, steps: float, start: int, wanted: int) -> None:
    cost = Priced(slope, steps * slope)
    target = cost.at(wanted) + 0.4 * slope
    found = bracket(cost, 1, 400, start, target, close=0.0)
    assert found.below is not None
    assert found.above is not None
    assert (found.below.value, found.above.value) == (wanted, wanted + 1)
    assert len(cost.looks) <= MAX_LOOKS


def nearest(power: float, start: int, wanted: int) -> float:
    """How far from the cost of `wanted` the nearest look is, as a share of it."""
    cost = Priced(50.0, 200.0, power)
    target = cost.at(wanted)
    bracket(cost, 1, 60, start, target, close=0.02)
    assert len(cost.looks) <= MAX_LOOKS
    return min(abs(cost.at(value) - target) for value in cost.looks) / target


@given(power=st.floats(0.5, 2.0), start=st.integers(1, 60), wanted=st.integers(2, 60))
def test_a_bent_cost_is_met(power: float, start: int, wanted: int) -> None:
    assert nearest(power, start, wanted) <= 0.02 + 1e-9


@pytest.mark.parametrize("power", [0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0])
def test_a_bent_cost_is_met_from_wherever_it_starts(power: float) -> None:
    worst = max(nearest(power, start, wanted) for start in range(1, 61) for wanted in range(2, 61))
    assert worst <= 0.02 + 1e-9


def test_a_near_value_ends_the_search() -> None:
    cost = Priced(100.0, 0.0)
    found = bracket(cost, 1, 100, 5, 510.0, close=0.05)
    assert cost.looks == [5]
    assert found.above is None


@pytest.mark.parametrize(("target", "end", "value"), [(1e6, "below", 20), (1.0, "above", 1)])
def test_what_cannot_be_reached_ends_at_the_last_value(target: float, end: str, value: int) -> None:
    found = bracket(Priced(100.0, 50.0), 1, 20, 5, target, close=0.01)
    assert getattr(found, end).value == value
    assert getattr(found, "above" if end == "below" else "below") is None


def test_a_knob_without_effect_is_let_go_after_two_looks() -> None:
    cost = Priced(0.0, 70.0)
    bracket(cost, 1, 20_000, 5, 700.0, close=0.01)
    assert len(cost.looks) == 2


def test_values_that_cannot_be_had_are_above_any_target() -> None:
    cost = Priced(100.0, 0.0, breaks=9)
    found = bracket(cost, 1, 100, 5, 5000.0, close=0.01)
    assert (found.below, found.above) != (None, None)
    assert found.below is not None
    assert found.below.value == 9


def test_the_search_stops_where_no_more_may_be_asked() -> None:
    looks: list[int] = []

    def twice(value: int) -> float | None:
        looks.append(value)
        return 100.0 * value if len(looks) <= 2 else None

    found = bracket(twice, 1, 1000, 5, 60_000.0, close=0.01)
    assert len(looks) == 3
    assert found.below is not None
