from __future__ import annotations

import pytest

from arena.metrics.failures import failure_classes
from arena.tracking.source import FAILED, OTHER, WRONG, choose, order_of


@pytest.mark.parametrize(
    ("outcome", "failure", "order"),
    [
        ("failed", "provider_failed", FAILED),
        ("answered", "reader_miss", WRONG),
        ("abstained", "false_abstention", WRONG),
        ("answered", "correct", OTHER),
        ("answered", "unscored", OTHER),
        ("answered", None, OTHER),
        ("answered", "a class of another version", OTHER),
    ],
)
def test_what_went_wrong_comes_first(outcome: str, failure: str | None, order: int) -> None:
    assert order_of(outcome, failure) == order


def test_every_right_class_comes_last() -> None:
    assert {order_of("answered", one.name) for one in failure_classes().values() if one.stage == "right"} == {OTHER}


def test_failures_then_wrong_answers_then_the_rest() -> None:
    questions = [(("c", f"q{number}"), order) for number, order in enumerate([OTHER, WRONG, FAILED, OTHER, WRONG])]
    assert choose(questions, 1) == {("c", "q2")}
    assert choose(questions, 3) == {("c", "q2"), ("c", "q1"), ("c", "q4")}
    assert len(choose(questions, 99)) == 5
    assert choose(questions, 0) == frozenset()


def test_equals_are_drawn_by_their_id_alike_in_every_cell_and_order() -> None:
    ids = [f"q{number}" for number in range(100)]
    questions = [((cell, one), WRONG) for cell in ("a", "b") for one in ids]
    chosen = choose(questions, 7)
    assert choose(reversed(questions), 7) == chosen
    in_a, in_b = ({one for cell, one in chosen if cell == wanted} for wanted in ("a", "b"))
    assert in_a == in_b
    assert len(in_a) == 7
    assert in_a != set(ids[:7])
