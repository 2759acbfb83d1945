from __future__ import annotations

from experiments.studies.calibrate.calibrate import BINS, QUANTILES, bars, quantiles
from experiments.studies.calibrate.separation import Population


def test_both_lines_share_one_scale() -> None:
    low, high = bars((Population("low", (0.0, 0.0, 0.1)), Population("high", (0.9, 1.0))))
    assert len(low) == len(high) == BINS
    assert low[0] == "█"
    assert low[-1] == high[0] == " "
    assert high[-1] == "█"


def test_one_of_thousands_is_still_seen() -> None:
    line, _ = bars((Population("many", (0.0,) * 5000 + (1.0,)), Population("one", (1.0,))))
    assert line[-1] == "▁"


def test_equal_scores_stand_in_the_middle() -> None:
    line, _ = bars((Population("a", (2.0, 2.0)), Population("b", (2.0,))))
    assert line.strip() == "█"
    assert line[BINS // 2] == "█"


def test_quantiles_go_from_the_least_to_the_most() -> None:
    found = quantiles(Population("a", (3.0, 1.0, 2.0)))
    assert (found[0], found[QUANTILES.index(0.5)], found[-1]) == (1.0, 2.0, 3.0)
