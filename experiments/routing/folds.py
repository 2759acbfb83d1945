"""Parts of the training questions that keep families together."""

from __future__ import annotations

import random
from collections.abc import Sequence

FOLDS = 5


def family_folds(families: Sequence[int], folds: int, seed: int) -> list[list[int]]:
    """Places of `families` in at most `folds` parts of about equal size, none empty, no family in two of them.

    Largest families first, each to the smallest part so far; families of one size in an order drawn from `seed`.
    """
    members: dict[int, list[int]] = {}
    for place, family in enumerate(families):
        members.setdefault(family, []).append(place)
    drawn = list(members.values())
    random.Random(seed).shuffle(drawn)
    parts: list[list[int]] = [[] for _ in range(min(folds, len(drawn)))]
    for family_places in sorted(drawn, key=len, reverse=True):
        min(parts, key=len).extend(family_places)
    return [sorted(part) for part in parts]
