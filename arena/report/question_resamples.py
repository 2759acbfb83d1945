"""The bootstrap resamples that all figures of one leaderboard share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from arena.statistics.intervals import Resamples, draw_resamples
from arena.types import Question

Ids = tuple[str, ...]
"""Ids of questions, sorted, so that their order in a file changes nothing."""


class QuestionResamples:
    """Resamples of each set of questions, stratified by kind and hops; drawn when first asked for, all from one seed.

    Whatever is computed on the same questions is so computed on the same resamples.
    """

    def __init__(self, questions: Iterable[Question], seed: int) -> None:
        self._strata = {one.question_id: (one.kind, one.hops) for one in questions}
        self._seed = seed
        self._drawn: dict[Ids, Resamples] = {}

    def of(self, ids: Ids) -> Resamples:
        """The resamples of these questions; KeyError for one that is not known."""
        if ids not in self._drawn:
            strata = [self._strata[one] for one in ids]
            self._drawn[ids] = draw_resamples(strata, np.random.default_rng(self._seed))
        return self._drawn[ids]
