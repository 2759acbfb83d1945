"""How many questions a comparison needs, said before they are paid for."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil

from arena.statistics.significance import ASSUMED_DISCORDANCE, detectable_difference, discordance_sd


def questions_needed(difference: float, discordance: float = ASSUMED_DISCORDANCE) -> int:
    """Questions with which a true difference in answer_em of `difference` is found, under `sample_size_note`'s terms.

    Raises:
        ValueError: `difference` is not above 0, or `discordance` is outside [0, 1].
    """
    if difference <= 0:
        raise ValueError(f"a difference to be found is above 0, not {difference!r}")
    return max(1, ceil((detectable_difference(1, discordance_sd(discordance)) / difference) ** 2))


def sample_size_note(sizes: Iterable[int]) -> str:
    """One line: the smallest difference between two cells that so many questions are likely to show, the most first."""
    sd = discordance_sd(ASSUMED_DISCORDANCE)
    most, *fewer = sorted(set(sizes), reverse=True)
    others = "".join(f"; with {n:,}, by {_least(n, sd)} or more" for n in fewer)
    return (
        f"With {most:,} questions, cells that differ by {_least(most, sd)} or more in answer_em are told apart 4 times "
        f"in 5{others} (5 % level; if they disagree on {100 * ASSUMED_DISCORDANCE:.0f} % of the questions)"
    )


def _least(n: int, sd: float) -> str:
    return f"{min(1.0, detectable_difference(n, sd)):.2g}"
