"""The target is the dearest own spending that every adjustable contestant reaches."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from arena.errors import ConfigError
from experiments.studies.equalize.contestants import EqualizedEntry
from experiments.studies.equalize.search import Solution, SpendingPoint, TargetChoice, choose_target
from strategies import find_variant

CHEAP, DEAR, DEAREST = (
    EqualizedEntry(name, "dense", find_variant(name)) for name in ("vanilla", "corrective", "ircot")
)
OWN = {CHEAP: 100.0, DEAR: 400.0, DEAREST: 900.0}


def chosen(most: float, given: float | None = None, adjustable: Sequence[EqualizedEntry] = tuple(OWN)) -> TargetChoice:
    """The cheap one can spend `most` at most; the others whatever is asked."""

    def solve_all(target: float) -> list[Solution]:
        return [
            Solution(one, target, point(target), "it does not get dearer" if one == CHEAP and target > most else None)
            for one in OWN
        ]

    return choose_target(given, {one: point(spent) for one, spent in OWN.items()}, adjustable, solve_all)


def point(spent: float) -> SpendingPoint:
    return SpendingPoint({}, spent, 10, 0, 0, "run")


def test_the_dearest_is_the_target_where_all_reach_it() -> None:
    assert (chosen(2000.0).target, chosen(2000.0).origin) == (900.0, "ircot-dense")


def test_a_cheaper_one_is_taken_where_somebody_cannot() -> None:
    assert (chosen(500.0).target, chosen(500.0).origin) == (400.0, "corrective-dense")


def test_the_user_may_ask_for_more_than_all_reach() -> None:
    choice = chosen(500.0, given=700.0)
    assert (choice.target, choice.origin) == (700.0, "given")
    assert [one.reached for one in choice.solutions] == [False, True, True]


def test_what_cannot_be_adjusted_sets_no_target() -> None:
    assert chosen(2000.0, adjustable=(CHEAP, DEAR)).target == 400.0
    with pytest.raises(ConfigError, match="no contestant has a setting that changes"):
        chosen(2000.0, adjustable=())
