from __future__ import annotations

import numpy as np
import pytest

from arena.statistics.intervals import draw_resamples
from experiments.studies.calibrate.router import GAIN, best_bias, bias_curve
from strategies.adaptive import Label

LIKELY_B = {"A": 0.1, "B": 0.6, "C": 0.3}
LIKELY_C = {"A": 0.1, "B": 0.3, "C": 0.6}


def test_labels_get_cheaper_as_the_bias_grows() -> None:
    curve = bias_curve([LIKELY_C], ["B"])
    assert curve.labels[0][0] == "C"
    assert curve.labels[0][-1] == "A"
    costs = ["ABC".index(label) for label in curve.labels[0]]
    assert costs == sorted(costs, reverse=True)
    assert curve.biases[0] == 0.0
    assert (np.diff(curve.biases) > 0).all()


def test_balanced_accuracy_counts_every_label_alike() -> None:
    curve = bias_curve([LIKELY_B, LIKELY_B, LIKELY_B, LIKELY_C], ["B", "B", "A", "C"])
    assert curve.balanced_accuracy()[0] == pytest.approx((0 + 1 + 1) / 3)


def test_shares_without_a_cheaper_label_turn_at_no_bias() -> None:
    assert bias_curve([{"A": 1.0, "B": 0.0, "C": 0.0}], ["A"]).biases.tolist() == [0.0]


def test_a_classifier_that_is_always_too_careful_is_biased_back() -> None:
    """Of what it calls C, what is B after all has a B that is nearly as likely."""
    shares = [{"A": 0.0, "B": 0.40, "C": 0.60}] * 30 + [{"A": 0.0, "B": 0.05, "C": 0.95}] * 30
    silver: list[Label] = ["B" if place < 30 else "C" for place in range(60)]
    curve = bias_curve(shares, silver)
    found = best_bias(curve, draw_resamples(silver, np.random.default_rng(0), 200))
    assert found.value is not None
    assert np.log(0.60 / 0.40) < found.value < np.log(0.95 / 0.05)
    assert found.measures["balanced accuracy"].mean == 1.0
    assert found.measures[GAIN].mean == pytest.approx(0.5)
    assert found.low == found.value == found.high


def test_of_equal_biases_none_is_the_papers() -> None:
    silver: list[Label] = ["C"] * 20
    found = best_bias(bias_curve([LIKELY_C] * 20, silver), draw_resamples(silver, np.random.default_rng(0), 50))
    assert (found.value, found.measures[GAIN].low) == (0.0, 0.0)
