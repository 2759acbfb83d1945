from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import (
    AllowanceSpent,
    BudgetError,
    ConfigError,
    ModelCallError,
    ModelSetupError,
    ProviderDownError,
    StrategyError,
    UserError,
)
from arena.llm.allowance import Allowance
from arena.protocols import Message, Tools
from arena.runner import plan_keys, run, run_one
from arena.store import key_of
from arena.types import (
    Answer,
    Attempt,
    Failure,
    Question,
    RunRecord,
    Task,
)
from tests.unit.contestants import (
    FINE,
    QUESTIONS,
    AskOnce,
    EchoModel,
    Raise,
    contestant,
    failure_of,
    run_all,
)


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


def test_retrievals_and_calls_are_on_the_record() -> None:
    record = anyio.run(run_one, contestant("a"), QUESTIONS[2])
    assert [retrieval.request.query for retrieval in record.retrievals] == ["Question 2?"]
    assert [(call.role, call.input_tokens, call.output_tokens) for call in record.calls] == [("generate", 7, 2)]
    assert (record.outcome, record.answer and record.answer.text) == ("answered", "echo 2")


def test_a_failed_call_is_a_failure_that_keeps_its_ledger_entry() -> None:
    record = anyio.run(run_one, contestant("a", model=EchoModel(error="HTTP 500")), QUESTIONS[0])
    assert record.failure is not None
    assert (record.outcome, record.answer, record.failure.stage) == ("failed", None, "model")
    assert "HTTP 500" in record.failure.message
    assert [call.error for call in record.calls] == ["HTTP 500"]


@pytest.mark.parametrize(
    ("error", "traced"),
    [
        (StrategyError("no passage 'x'"), False),
        (AllowanceSpent("the question has used 2 of the 2 calls it may"), False),
        (KeyError("x"), True),
    ],
)
def test_a_broken_strategy_fails_its_question_only(error: Exception, traced: bool) -> None:
    records = run_all([contestant("a", AskOnce({"Question 3?": error}))])
    failed = [record for record in records if record.failure]
    assert [record.question_id for record in failed] == ["q3"]
    assert failed[0].failure is not None
    assert failed[0].failure.type == type(error).__name__
    assert (failed[0].failure.traceback is not None) == traced
    assert len(failed[0].calls) == 1
    assert len(records) == len(QUESTIONS)


@pytest.mark.parametrize("kind", [ModelSetupError, ProviderDownError, BudgetError])
def test_what_only_the_user_can_mend_stops_the_run_and_keeps_what_is_done(kind: type[UserError]) -> None:
    strategy = AskOnce({"Question 3?": kind("the key is refused")})
    kept: list[RunRecord] = []

    async def main() -> None:
        await run([contestant("a", strategy)], done=set(), keep=kept.append, concurrency=1)

    with pytest.raises(kind, match="the key is refused"):
        anyio.run(main)
    assert [record.question_id for record in kept] == ["q0", "q1", "q2"]


def test_questions_in_flight_at_a_stop_end_and_are_kept_and_no_other_is_begun() -> None:
    """What they have asked of the model may have been paid for."""
    strategy = AskOnce({"Question 2?": BudgetError("spent")})
    kept: list[RunRecord] = []

    async def main() -> None:
        await run([contestant("a", strategy)], done=set(), keep=kept.append, concurrency=3)

    with pytest.raises(BudgetError, match="spent"):
        anyio.run(main)
    assert {record.question_id for record in kept} == {"q0", "q1"}


def test_a_strategy_sees_the_task_and_nothing_else_of_the_question() -> None:
    seen: list[Task] = []

    class Spy(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            seen.append(task)
            return Attempt(Answer("x", abstained=False))

    question = Question("2hop__1_2", "Who?", "unanswerable", 2, "2hop")
    anyio.run(run_one, contestant("a", Spy()), question)
    assert seen == [Task("Who?", "short")]


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@given(st.text(st.characters(codec=None)))
def test_any_message_of_any_error_can_be_written_down(text: str) -> None:
    for error in (KeyError(text), ValueError(text), StrategyError(text)):
        failure_of(Raise(error))


def test_an_error_that_cannot_print_itself_is_a_failure_too() -> None:
    assert failure_of(Raise(MuteError())).type == "MuteError"


def groups(*errors: Exception) -> ExceptionGroup[Exception]:
    """As two task groups, one inside the other, would raise them."""
    return ExceptionGroup("outer", [ValueError("beside"), ExceptionGroup("inner", errors)])


def test_what_only_the_user_can_mend_stops_the_run_from_inside_task_groups() -> None:
    error = ModelSetupError("the key is refused")
    with pytest.raises(ModelSetupError, match="the key is refused") as caught:
        run_all([contestant("a", Raise(groups(StrategyError("x"), error)))])
    assert caught.value is error


def test_a_task_group_of_a_node_stops_the_run_with_its_user_error() -> None:
    class AskInParallel(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            async def one(name: str) -> None:
                raise ConfigError(f"no key for {name}")

            async with anyio.create_task_group() as group:
                group.start_soon(one, "a")
            return Attempt(FINE)

    with pytest.raises(ConfigError, match="no key for a"):
        run_all([contestant("a", AskInParallel())])


def test_a_failed_call_inside_a_task_group_is_the_models_failure() -> None:
    failure = failure_of(Raise(ExceptionGroup("nodes", [ModelCallError("HTTP 500"), ModelCallError("HTTP 501")])))
    assert failure == Failure("model", "ModelCallError", "HTTP 500")


def test_a_group_with_a_defect_keeps_its_traceback() -> None:
    failure = failure_of(Raise(groups(ModelCallError("HTTP 500"))))
    assert (failure.stage, failure.type) == ("strategy", "ExceptionGroup")
    assert "ValueError: beside" in (failure.traceback or "")


class AskThrice(AskOnce):
    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        assert tools.writer is not None
        for role in ("grade", "rewrite", "generate"):
            await tools.writer.write([Message("user", task.question)], role=role)
        return Attempt(Answer("x", abstained=False))


def test_a_spent_allowance_that_a_strategy_lets_through_is_a_failure_that_says_what_to_raise() -> None:
    bounded = replace(contestant("a", AskThrice()), allowance=Allowance(calls=1))
    record = anyio.run(run_one, bounded, QUESTIONS[0])
    assert record.failure is not None
    assert (record.failure.stage, record.failure.type) == ("strategy", "AllowanceSpent")
    assert record.failure.message.endswith("raise allowance.calls for more")
    assert [call.role for call in record.calls] == ["grade"]


def test_an_evaluator_is_among_the_tools() -> None:
    seen: list[object] = []

    class Judge:
        identity: Mapping[str, str | int] = {}

        def score(self, question: str, texts: Sequence[str]) -> list[float]:
            return [0.0 for _ in texts]

    class Look(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            seen.append(tools.evaluator)
            return Attempt(Answer("x", abstained=False))

    judge = Judge()
    anyio.run(run_one, replace(contestant("a", Look()), evaluator=judge), QUESTIONS[0])
    anyio.run(run_one, contestant("a", Look()), QUESTIONS[0])
    assert seen == [judge, None]
