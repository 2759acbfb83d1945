"""How far two raters agree beyond what chance would bring."""

from __future__ import annotations

from collections.abc import Sequence


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
