"""How small a difference a number of questions can show."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

ASSUMED_DISCORDANCE = 0.2
"""Share of questions on which one of two cells is right and the other wrong, before anything is measured."""


def detectable_difference(n: int, sd: float, power: float = 0.8, level: float = 0.05) -> float:
    """The true mean difference that a two-sided paired test at `level` finds with probability `power`.

    (z of 1 - level / 2 + z of power) * sd / sqrt(n), with `sd` that of the differences per question, over `n` of them;
    normal approximation (Miller 2024, arXiv 2411.00640). For one pair that was chosen beforehand: among m pairs, the
    first step of Holm's method asks for level / m.

    Raises:
        ValueError: n < 1, sd < 0, or `power` or `level` is not inside (0, 1).
    """
    if n < 1 or sd < 0.0 or not 0.0 < power < 1.0 or not 0.0 < level < 1.0:
        raise ValueError(
            f"need n >= 1, sd >= 0, and power and level inside (0, 1), not {n!r}, {sd!r}, {power!r}, {level!r}"
        )
    normal = NormalDist()
    return (normal.inv_cdf(1.0 - level / 2.0) + normal.inv_cdf(power)) * sd / sqrt(n)


def discordance_sd(discordance: float) -> float:
    """Standard deviation of the difference of two binary scores, given the share of questions on which they differ.

    As often one way as the other: at the null hypothesis.

    Raises:
        ValueError: `discordance` is outside [0, 1].
    """
    if not 0.0 <= discordance <= 1.0:
        raise ValueError(f"a share of questions lies in [0, 1], not {discordance!r}")
    return sqrt(discordance)
