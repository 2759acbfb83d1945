"""What all are to spend: as the user says, or as much as the dearest contestant whose price all others can pay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from arena.errors import ConfigError
from experiments.equalizing.contestant import Contestant
from experiments.equalizing.solving import Point, Solution

GIVEN = "given"

SolveAll = Callable[[float], Sequence[Solution]]
"""The solutions of all contestants for a target."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The target, whose spending it is (GIVEN: the user's own figure), and how each contestant meets it."""

    target: float
    origin: str
    solutions: tuple[Solution, ...]


def choose_target(
    given: float | None, own: Mapping[Contestant, Point], adjustable: Sequence[Contestant], solve_all: SolveAll
) -> Choice:
    """The user's target; else the dearest own spending that every adjustable contestant reaches.

    Where none is reached by all, the one that most reach, the dearer of two. `own`: under the config's own settings.

    Raises:
        ConfigError: nobody spends anything, or no contestant has a setting that changes what it spends.
    """
    if given is not None:
        return Choice(given, GIVEN, tuple(solve_all(given)))
    if not adjustable:
        raise ConfigError("no contestant has a setting that changes what it spends: choose another --per-question")
    dearest = sorted(adjustable, key=lambda one: -own[one].spent)
    if own[dearest[0]].spent <= 0:
        raise ConfigError("no contestant spends anything per question: there is nothing to make equal")
    best: Choice | None = None
    for contestant in dearest:
        if own[contestant].spent <= 0:
            break
        choice = Choice(own[contestant].spent, contestant.name, tuple(solve_all(own[contestant].spent)))
        n_reached = _n_reached(choice, adjustable)
        if best is None or n_reached > _n_reached(best, adjustable):
            best = choice
        if n_reached == len(adjustable):
            break
    assert best is not None, "the dearest contestant spends something"
    return best


def _n_reached(choice: Choice, adjustable: Sequence[Contestant]) -> int:
    return sum(one.reached for one in choice.solutions if one.contestant in adjustable)
