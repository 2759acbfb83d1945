from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.statistics.thresholds import elbow

XS = (1.0, 3.0, 5.0, 10.0, 20.0)


@pytest.mark.parametrize(
    ("ys", "place"),
    [
        ((0.2, 0.5, 0.6, 0.65, 0.67), 2),  # quick, then slow
        ((0.8, 0.4, 0.25, 0.14, 0.08), 2),  # the same, falling
        ((0.2, 0.6, 0.6, 0.6, 0.6), 1),  # a corner
        ((0.6, 0.6, 0.6, 0.6, 0.2), None),  # falls ever steeper
        ((0.1, 0.12, 0.14, 0.19, 0.29), None),  # straight
        ((0.5, 0.5, 0.5, 0.5, 0.5), None),
        ((0.5, 0.7, 0.8, 0.7, 0.5), None),  # ends where it began
    ],
)
def test_the_place_where_a_curve_bends(ys: tuple[float, ...], place: int | None) -> None:
    assert elbow(XS, ys) == place


def test_fewer_than_three_points_have_none() -> None:
    assert elbow((1.0, 2.0), (0.1, 0.9)) is None
    assert elbow((), ()) is None


def test_worked_out_on_paper() -> None:
    """(x, y) on axes from 0 to 1: (0, 0), (0.2, 0.5), (0.6, 0.8), (1, 1): above the diagonal 0.3 and 0.2."""
    assert elbow((0.0, 2.0, 6.0, 10.0), (10.0, 15.0, 18.0, 20.0)) == 1


@pytest.mark.parametrize(("xs", "ys"), [((1.0, 1.0, 2.0), (0.0, 0.5, 1.0)), ((1.0, 2.0), (0.5,))])
def test_what_is_no_curve_is_refused(xs: tuple[float, ...], ys: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="xs"):
        elbow(xs, ys)


@given(
    ys=st.lists(st.integers(0, 100), min_size=3, max_size=8),
    scale=st.integers(1, 1000),
    shift=st.integers(-50, 50),
)
def test_neither_unit_nor_origin_nor_direction_matters(ys: list[int], scale: int, shift: int) -> None:
    xs = [float(2**place) for place in range(len(ys))]
    found = elbow(xs, ys)
    assert elbow([16 * x for x in xs], ys) == found
    moved = elbow(xs, [scale * y + shift for y in ys])
    turned = elbow(xs, [-y for y in ys])
    for other in (moved, turned):
        assert (other is None) == (found is None)
    if found is not None:
        assert 0 < found < len(ys) - 1
