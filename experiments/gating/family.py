"""The tests of a gate's checks, as one family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.statistics.noninferiority import decide, family_wise, least_p, no_worse_p
from experiments.gating.trials import Trial


class Tested(NamedTuple):
    """One-sided p of "not worse", and the same after Holm; None: the change does not reach its margin."""

    p: float | None = None
    adjusted: float | None = None


def tested(trials: Sequence[Trial], level: float, seed: int) -> list[Tested]:
    """The p-values of those that reach their margin: the others cannot fail, and count in the family as not rejected.

    A check on which too few questions differ to be significant at all does not count (see `family_wise`).
    """
    reaching = [one.change is not None and decide(one.change, one.margin, 0.0, level) == "fail" for one in trials]
    if not any(reaching):
        return [Tested()] * len(trials)
    raw = iter(_p_values([one for one, reaches in zip(trials, reaching, strict=True) if reaches], level, seed))
    p = [next(raw) if reaches else 1.0 for reaches in reaching]
    adjusted = family_wise(p, [_least(one) for one in trials], level)
    return [
        Tested(one, other) if reaches else Tested() for one, other, reaches in zip(p, adjusted, reaching, strict=True)
    ]


def _least(trial: Trial) -> float:
    """1 for a check without a test; 0 where the least p there could be is not known."""
    if trial.change is None:
        return 1.0
    return 0.0 if trial.differences is None else least_p(trial.change.differing)


def _p_values(trials: Sequence[Trial], level: float, seed: int) -> list[float]:
    """One sign per question for all of them: a question is exchanged between the runs as a whole."""
    columns = [one.differences for one in trials if one.p is None and one.differences is not None]
    ids = {one: row for row, one in enumerate(sorted({name for column in columns for name in column}))}
    table = np.full((len(ids), len(columns)), np.nan)
    for place, column in enumerate(columns):
        table[[ids[name] for name in column], place] = list(column.values())
    found = iter(no_worse_p(table, np.random.default_rng(seed), level) if columns else [])
    return [one.p if one.p is not None else next(found) for one in trials]
