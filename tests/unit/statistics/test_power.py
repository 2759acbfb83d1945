from __future__ import annotations

import numpy as np
import pytest

from arena.statistics.significance import detectable_difference, discordance_sd, paired_permutation


def test_by_hand() -> None:
    assert detectable_difference(100, 0.5) == pytest.approx((1.95996 + 0.84162) * 0.05, abs=1e-5)
    assert detectable_difference(100, 0.0) == 0.0
    assert discordance_sd(0.25) == 0.5


def test_four_times_the_questions_show_half_the_difference() -> None:
    assert detectable_difference(400, 0.4) == pytest.approx(detectable_difference(100, 0.4) / 2)


def test_more_power_and_a_stricter_level_ask_for_more() -> None:
    plain = detectable_difference(100, 0.4)
    assert detectable_difference(100, 0.4, power=0.9) > plain
    assert detectable_difference(100, 0.4, level=0.05 / 66) > plain


def test_such_a_difference_is_found_four_times_in_five() -> None:
    generator = np.random.default_rng(0)
    samples = generator.normal(detectable_difference(120, 0.45), 0.45, size=(120, 300))
    found = np.mean(paired_permutation(samples, generator, 1000) <= 0.05)
    assert 0.72 <= found <= 0.88


@pytest.mark.parametrize("wrong", [{"n": 0}, {"sd": -0.1}, {"power": 1.0}, {"level": 0.0}])
def test_what_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="need n >= 1"):
        detectable_difference(**({"n": 100, "sd": 0.5} | wrong))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a share of questions"):
        discordance_sd(1.5)
