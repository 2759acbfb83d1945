from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import (
    AllowanceSpent,
    ConfigError,
    ModelCallError,
    ModelSetupError,
    StrategyError,
)
from arena.llm.limits import Allowance
from arena.protocols import Message, Tools
from arena.runner import run_one
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
    AskThenWait,
    EchoModel,
    Raise,
    contestant,
    failure_of,
    run_all,
)


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


def test_a_question_that_takes_too_long_has_failed_and_its_finished_calls_are_in_the_ledger() -> None:
    async def main() -> RunRecord:
        return await run_one(contestant("a", AskThenWait(waits_on=["Question 0?"])), QUESTIONS[0], timeout_seconds=0.05)

    record = anyio.run(main)
    assert record.failure is not None
    assert (record.outcome, record.failure.stage, record.failure.type) == ("failed", "timeout", "TimeoutError")
    assert record.failure.message == (
        "no answer within the 0.05 s of question_timeout_seconds; 1 retrievals and 1 model calls were finished by then"
    )
    assert [(call.input_tokens, call.output_tokens) for call in record.calls] == [(7, 2)]
    assert len(record.retrievals) == 1
    assert record.wall_seconds >= 0.05


def test_an_abstention_in_the_words_of_a_setting_is_one() -> None:
    plain = anyio.run(run_one, contestant("a"), QUESTIONS[2])
    told = anyio.run(run_one, replace(contestant("a"), abstentions=("ECHO 2", "echo 3")), QUESTIONS[2])
    assert (plain.outcome, told.outcome) == ("answered", "abstained")
    assert told.answer is not None
    assert (told.answer.text, told.answer.abstained) == ("echo 2", True)
