from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from arena.errors import (
    UserError,
)
from arena.runner import Contestant, run
from arena.types import (
    RunRecord,
)
from tests.unit.contestants import (
    QUESTIONS,
    AskOnce,
    Raise,
    contestant,
    into,
    run_all,
)


def checked(
    *contestants: Contestant, done: set[tuple[str, str]] | None = None, concurrency: int = 3
) -> list[RunRecord]:
    """Records of a run with a health check, as far as it got."""
    kept: list[RunRecord] = []

    async def main() -> None:
        await run(contestants, done=done or set(), keep=into(kept), concurrency=concurrency, health_check=True)

    try:
        anyio.run(main)
    except UserError as error:
        error.add_note(",".join(record.question_id for record in kept))
        raise
    return kept


def test_the_first_question_of_every_cell_is_asked_before_the_others() -> None:
    kept = checked(contestant("a"), contestant("b"), contestant("c"), concurrency=2)
    assert {(record.cell.strategy, record.question_id) for record in kept[:3]} == {
        ("a", "q0"),
        ("b", "q0"),
        ("c", "q0"),
    }
    assert len(kept) == 3 * len(QUESTIONS)


def test_a_healthy_run_has_the_records_of_one_without_a_check() -> None:
    unchecked, after_check = run_all([contestant("a")]), checked(contestant("a"))
    assert {(one.question_id, one.answer, one.warm_up) for one in unchecked} == {
        (one.question_id, one.answer, one.warm_up) for one in after_check
    }


def test_a_cell_that_fails_its_first_questions_stops_the_run_and_keeps_none_of_them() -> None:
    broken = contestant("b", Raise(ValueError("no such node")))
    with pytest.raises(UserError, match=r"^b in mode dense \(cell b/dense/\w+\) failed each of its first 3 ") as caught:
        checked(contestant("a"), broken)
    assert "'q2' at stage strategy with ValueError: no such node" in str(caught.value)
    assert "--set health_check=false" in str(caught.value)
    assert caught.value.__notes__ == ["q0"]


def test_a_first_question_may_fail_and_is_a_result_then() -> None:
    kept = checked(contestant("a", AskOnce({"Question 0?": ValueError("odd"), "Question 1?": ValueError("odd")})))
    assert sorted(record.question_id for record in kept) == [question.question_id for question in QUESTIONS]
    assert {record.question_id for record in kept if record.failure} == {"q0", "q1"}


def test_a_cell_with_records_is_not_condemned_for_what_it_has_left() -> None:
    """What is left may be exactly what failed before."""
    hard = contestant("a", Raise(ValueError("hard")))
    kept = checked(hard, done={(hard.cell.key, "q0")})
    assert len(kept) == len(QUESTIONS) - 1


def test_a_cell_of_two_questions_cannot_be_condemned() -> None:
    small = replace(contestant("a", Raise(ValueError("hard"))), questions=QUESTIONS[:2])
    assert [record.outcome for record in checked(small)] == ["failed", "failed"]


def test_the_first_record_of_every_cell_in_a_process_is_its_warm_up() -> None:
    for kept in (run_all([contestant("a"), contestant("b")]), checked(contestant("a"), contestant("b"))):
        assert {(one.cell.strategy, one.question_id) for one in kept if one.warm_up} == {("a", "q0"), ("b", "q0")}
