"""How far raters agree beyond what chance would bring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence


def cohens_kappa(a: Sequence[bool], b: Sequence[bool]) -> float | None:
    """Cohen's kappa of two raters on the same things, in [-1, 1]: 1 = always agree, 0 = as often as chance would.

    None for n = 0, and where both raters give one and the same answer throughout: chance alone would then agree
    everywhere, and nothing can be said beyond it. Cohen 1960.

    Raises:
        ValueError: `a` and `b` are not of one length.
    """
    n = len(a)
    if n != len(b):
        raise ValueError(f"need two ratings of each thing, not {n} and {len(b)}")
    if n == 0:
        return None
    agreed = sum(bool(one) == bool(other) for one, other in zip(a, b, strict=True))
    yes_a, yes_b = sum(map(bool, a)), sum(map(bool, b))
    by_chance = yes_a * yes_b + (n - yes_a) * (n - yes_b)
    if by_chance == n * n:
        return None
    return (n * agreed - by_chance) / (n * n - by_chance)


def krippendorffs_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Krippendorff's alpha for nominal values, at most 1: 1 = always agree, 0 = as often as chance would.

    `units`: of each thing that was rated the values that it got, in any order, by any number of raters. A thing with
    fewer than two values says nothing and is left out. None where nothing is left, and where all values are one and
    the same: chance alone would then agree everywhere. Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".
    """
    paired = [Counter(unit) for unit in units if len(unit) > 1]
    totals = sum(paired, Counter[Hashable]())
    n = totals.total()
    by_chance = n * n - sum(count * count for count in totals.values())
    if by_chance == 0:
        return None
    observed = sum(
        (unit.total() ** 2 - sum(count * count for count in unit.values())) / (unit.total() - 1) for unit in paired
    )
    return 1.0 - (n - 1) * observed / by_chance
