from __future__ import annotations

import anyio
import pytest

from arena.errors import (
    BudgetError,
    ModelSetupError,
    ProviderDownError,
    UserError,
)
from arena.runner import plan_keys, run
from arena.store import key_of
from arena.types import (
    RunRecord,
)
from tests.unit.contestants import (
    QUESTIONS,
    AskOnce,
    AskThenWait,
    EchoModel,
    contestant,
    into,
    run_all,
)
from tests.virtual_time import in_virtual_time


def test_every_question_of_every_cell_has_one_record() -> None:
    contestants = [contestant("a"), contestant("b")]
    records = run_all(contestants)
    assert sorted(map(key_of, records)) == sorted(plan_keys(contestants))


def test_the_plan_goes_question_by_question_through_all_cells() -> None:
    keys = plan_keys([contestant("a"), contestant("b")])
    assert [question_id for _, question_id in keys][:4] == ["q0", "q0", "q1", "q1"]


def test_records_are_the_same_at_any_concurrency() -> None:
    serial, wide = (sorted(run_all([contestant("a"), contestant("b")], n), key=key_of) for n in (1, 8))
    assert serial == wide


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_no_more_questions_in_flight_than_allowed(concurrency: int) -> None:
    model = EchoModel()
    run_all([contestant("a", model=model)], concurrency)
    assert model.most_in_flight == concurrency


def test_what_is_done_is_not_asked_again() -> None:
    one = contestant("a")
    done = set(plan_keys([one])[:4])
    assert {record.question_id for record in run_all([one], done=done)} == {"q4", "q5"}


@pytest.mark.parametrize("kind", [ModelSetupError, ProviderDownError, BudgetError])
def test_what_only_the_user_can_mend_stops_the_run_and_keeps_what_is_done(kind: type[UserError]) -> None:
    strategy = AskOnce({"Question 3?": kind("the key is refused")})
    kept: list[RunRecord] = []

    async def main() -> None:
        await run([contestant("a", strategy)], done=set(), keep=into(kept), concurrency=1)

    with pytest.raises(kind, match="the key is refused"):
        anyio.run(main)
    assert [record.question_id for record in kept] == ["q0", "q1", "q2"]


def test_questions_in_flight_at_a_stop_end_and_are_kept_and_no_other_is_begun() -> None:
    """What they have asked of the model may have been paid for."""
    strategy = AskOnce({"Question 2?": BudgetError("spent")})
    kept: list[RunRecord] = []

    async def main() -> None:
        await run([contestant("a", strategy)], done=set(), keep=into(kept), concurrency=3)

    with pytest.raises(BudgetError, match="spent"):
        anyio.run(main)
    assert {record.question_id for record in kept} == {"q0", "q1"}


def test_a_slow_question_does_not_hold_up_the_others() -> None:
    kept: list[RunRecord] = []

    async def main() -> None:
        slow = contestant("a", AskThenWait(waits_on=["Question 1?", "Question 4?"]))
        await run([slow], done=set(), keep=into(kept), concurrency=2, timeout_seconds=0.05)

    in_virtual_time(main)
    assert {record.question_id for record in kept if record.failure} == {"q1", "q4"}
    assert len(kept) == len(QUESTIONS)


def test_a_record_that_is_made_is_kept_whatever_is_cancelled_meanwhile() -> None:
    kept: list[RunRecord] = []

    async def main() -> None:
        with anyio.CancelScope() as scope:

            async def slowly(record: RunRecord) -> None:
                scope.cancel()
                await anyio.sleep(0.01)
                kept.append(record)

            await run([contestant("a")], done=set(), keep=slowly, concurrency=1)

    anyio.run(main)
    assert [record.question_id for record in kept] == ["q0"]
