from __future__ import annotations

from dataclasses import replace

import pytest

from arena.metrics.controllers import allowance_was_spent, had_no_room, route_needed, route_taken, verdicts, was_capped
from arena.types import Decision, RunRecord
from tests.samples import answered


def decided(*decisions: Decision) -> RunRecord:
    return replace(answered("q1", "x", ("d1", "d2")), decisions=decisions)


@pytest.mark.parametrize(("hops", "route"), [(None, None), (0, None), (1, "B"), (2, "C"), (4, "C")])
def test_hops_tell_one_retrieval_from_several(hops: int | None, route: str | None) -> None:
    assert route_needed(hops) == route


def test_a_route_is_a_label_of_the_classifier() -> None:
    assert route_taken(decided(Decision("grade", "A"), Decision("classify", "B"))) == "B"
    assert route_taken(decided(Decision("classify", "D"))) is None
    assert route_taken(decided()) is None


def test_a_loop_that_had_finished_was_not_capped() -> None:
    assert was_capped(decided(Decision("exit", "cap", changed=("answer",))))
    assert was_capped(decided(Decision("stop", "depth", changed=("answer",))))
    assert not was_capped(decided(Decision("stop", "depth")))
    assert not was_capped(decided(Decision("exit", "marker", changed=("answer",))))


def test_caps_are_told_by_their_node() -> None:
    assert allowance_was_spent(decided(Decision("allowance", "spent")))
    assert had_no_room(decided(Decision("collect", "full")))
    other = decided(Decision("collect", "added"), Decision("stop", "spent"))
    assert not allowance_was_spent(other)
    assert not had_no_room(other)


@pytest.mark.parametrize(
    ("choice", "approved"),
    [
        ("correct", True),
        ("kept", True),
        ("ambiguous", None),
        ("unreadable", None),
        ("incorrect", False),
        ("passed over", False),
        ("empty", False),
    ],
)
def test_a_verdict_is_about_a_passage_that_was_retrieved(choice: str, approved: bool | None) -> None:
    about = decided(
        Decision("evaluate", choice, subject="d2"),
        Decision("evaluate", choice, subject="d4"),
        Decision("evaluate", choice),
    )
    assert list(verdicts(about)) == [("evaluate", "d2", approved)]
