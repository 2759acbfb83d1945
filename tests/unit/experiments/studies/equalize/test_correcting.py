"""Pilots that are off are asked for another target."""

from __future__ import annotations

import pytest

from experiments.studies.equalize.runs import corrected_target


def test_one_run_is_corrected_in_proportion() -> None:
    assert corrected_target([(1000.0, 800.0)], 1000.0) == pytest.approx(1250.0)


def test_two_runs_around_the_target_are_interpolated() -> None:
    assert corrected_target([(1000.0, 800.0), (1400.0, 1200.0)], 900.0) == pytest.approx(1100.0)


def test_two_runs_on_one_side_are_as_good_as_the_nearer() -> None:
    assert corrected_target([(1000.0, 800.0), (500.0, 300.0)], 1000.0) == pytest.approx(1250.0)
