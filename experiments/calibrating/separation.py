"""From scores of two populations to a choice, and whether it may be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arena.errors import ConfigError
from arena.statistics.intervals import Interval, Resamples, draw_resamples
from arena.statistics.thresholds import Choice, Criterion, Scored, auc_interval, choose
from experiments.calibrating.finding import Chosen, Population

FEWEST = 10
"""Things of each population that a threshold may be chosen on. Of fewer, one more would move a rate by a tenth."""

LEAST = 2
"""Things of each population without which there is nothing to show."""

Scores = Mapping[str, Sequence[float]]
"""Question id -> the scores that it has of one population."""

WORTH = "J less optimism"
"""The measure that must be above 0: what choosing and measuring on the same questions adds is taken off."""

YOUDEN = "largest J = kept + refused - 1; of equal ones the lowest, which keeps more"


@dataclass(frozen=True, slots=True)
class Separation:
    """Two populations of scores, and the resamples of questions that all their figures share."""

    wanted: Population
    unwanted: Population
    scored: Scored
    resamples: Resamples
    auc: Interval

    def choose(self, setting: str, criterion: Criterion, words: str) -> Chosen:
        """The value of `setting`; `words` say what the criterion is."""
        found = choose(self.scored, criterion, self.resamples)
        return chosen(setting, found, words, kept=f"{self.wanted.name} kept", refused=f"{self.unwanted.name} refused")

    def verdict(self, tests: Sequence[Chosen]) -> tuple[bool, str]:
        """Whether the populations are told apart: enough of each, AUC above 0.5, and the J of every choice above 0."""
        gains = {f"J at the best {one.name}": one.measures[WORTH] for one in tests}
        return judged_apart(self.wanted, self.unwanted, self.auc, gains)


def separation(wanted: Scores, unwanted: Scores, names: tuple[str, str], seed: int) -> Separation:
    """Raises `ConfigError` where there are fewer than two things of one population; `names` are theirs."""
    sides = [[(row, score) for row, scores in side.items() for score in scores] for side in (wanted, unwanted)]
    for things, name in zip(sides, names, strict=True):
        if len(things) < LEAST:
            raise ConfigError(
                f"the run's questions give {len(things)} scores of '{name}', and at least {LEAST} are needed to show "
                f"anything ({FEWEST} to choose a value): ask more questions"
            )
    rows = sorted({*wanted, *unwanted})
    place = {question_id: row for row, question_id in enumerate(rows)}
    resamples = draw_resamples(
        [(bool(wanted.get(one)), bool(unwanted.get(one))) for one in rows], np.random.default_rng(seed)
    )
    both = [*sides[0], *sides[1]]
    scored = Scored(
        np.array([score for _, score in both], dtype=np.float64),
        np.arange(len(both)) < len(sides[0]),
        np.array([place[question_id] for question_id, _ in both], dtype=np.intp),
    )
    first, second = (
        Population(name, tuple(score for _, score in things)) for name, things in zip(names, sides, strict=True)
    )
    return Separation(first, second, scored, resamples, auc_interval(scored, resamples))


def chosen(setting: str, choice: Choice, criterion: str, *, kept: str, refused: str) -> Chosen:
    """A choice as it is reported; minus infinity is no threshold."""
    value, low, high = (None if np.isneginf(one) else one for one in (choice.threshold, choice.low, choice.high))
    measures = {kept: choice.kept, refused: choice.refused, WORTH: choice.youden}
    return Chosen(setting, value, low, high, criterion, measures)


def judged_apart(
    wanted: Population, unwanted: Population, auc: Interval, gains: Mapping[str, Interval]
) -> tuple[bool, str]:
    """Whether, and in words why. `gains`: what must be above 0, by name."""
    pair = f"'{wanted.name}' and '{unwanted.name}'"
    few = min(len(wanted.scores), len(unwanted.scores))
    if few < FEWEST:
        return False, f"{pair}: {few} of one are too few to choose on; at least {FEWEST} are needed"
    if auc.low <= 0.5:
        how = "includes 0.5" if auc.high >= 0.5 else "lies below 0.5, the wrong way round"
        return False, f"{pair} do not separate: the interval of AUC {how}"
    for name, gain in gains.items():
        if gain.low <= 0.0:
            return False, f"{pair} do not separate: the interval of {name} includes 0"
    return True, f"{pair} separate"
