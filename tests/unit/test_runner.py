from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import journal
from arena.errors import ConfigError, ModelCallError, ModelSetupError, StrategyError
from arena.protocols import Message, Reply, RetrievalSettings, Retriever, Strategy, Tools
from arena.runner import Contestant, plan_keys, run, run_one
from arena.store import key_of
from arena.types import (
    Answer,
    Attempt,
    Cell,
    Decision,
    Failure,
    Hit,
    LLMCall,
    Passage,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
    Task,
)

QUESTIONS = tuple(Question(f"q{number}", f"Question {number}?", "single_hop") for number in range(6))
MESSAGES = (Message("user", "Question?"),)


class OneHit:
    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        return Retrieval(request, (Hit("d1", "d1", 1, 1.0),))

    def passage(self, passage_id: str) -> Passage:
        return Passage(passage_id, passage_id, "T", "text", 0, 4)

    def for_question(self, question_id: str) -> Retriever:
        return self


@dataclass
class EchoModel:
    """Takes as long as the question's number says, so that questions finish out of order."""

    error: str | None = None
    in_flight: int = 0
    most_in_flight: int = 0
    name: str = "echo:"

    async def complete(self, messages: Sequence[Message], *, role: str, max_tokens: int | None = None) -> Reply:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        number = int(messages[0].content.split()[1][0])
        for _ in range(10 - number):
            await anyio.lowlevel.checkpoint()
        self.in_flight -= 1
        text = None if self.error else f"echo {number}"
        return Reply(text, LLMCall(role, self.name, "0", 7, 2, error=self.error))


@dataclass
class AskOnce:
    """Retrieves and asks once; raises or aborts on the questions it is told to."""

    breaks_on: dict[str, Exception] = field(default_factory=dict)

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        await tools.retriever.retrieve(tools.settings.request(task.question))
        assert tools.writer is not None
        text = await tools.writer.write([Message("user", task.question)], role="generate")
        if error := self.breaks_on.get(task.question):
            raise error
        return Attempt(Answer(text, abstained=False, retrieved_ids=("d1",), used_ids=("d1",)))


@dataclass
class HandBack:
    """Hands back what it is told to, after one retrieval of d1; any value at all, as a third party's might."""

    value: Any

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        await tools.retriever.retrieve(tools.settings.request(task.question))
        return self.value  # type: ignore[no-any-return]


@dataclass
class Raise:
    error: BaseException

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        raise self.error


def contestant(name: str, strategy: Strategy | None = None, model: EchoModel | None = None) -> Contestant:
    return Contestant(
        Cell(name, "dense", "echo:"),
        strategy or AskOnce(),
        OneHit(),
        RetrievalSettings("dense", 5),
        model or EchoModel(),
        QUESTIONS,
    )


def run_all(
    contestants: Sequence[Contestant], concurrency: int = 3, done: set[tuple[str, str]] | None = None
) -> list[RunRecord]:
    kept: list[RunRecord] = []

    async def main() -> None:
        await run(contestants, done=done or set(), keep=kept.append, concurrency=concurrency, clock=lambda: 0.0)

    anyio.run(main)
    return kept


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


@pytest.mark.parametrize(("error", "traced"), [(StrategyError("no passage 'x'"), False), (KeyError("x"), True)])
def test_a_broken_strategy_fails_its_question_only(error: Exception, traced: bool) -> None:
    records = run_all([contestant("a", AskOnce({"Question 3?": error}))])
    failed = [record for record in records if record.failure]
    assert [record.question_id for record in failed] == ["q3"]
    assert failed[0].failure is not None
    assert failed[0].failure.type == type(error).__name__
    assert (failed[0].failure.traceback is not None) == traced
    assert len(failed[0].calls) == 1
    assert len(records) == len(QUESTIONS)


def test_what_only_the_user_can_mend_stops_the_run_and_keeps_what_is_done() -> None:
    strategy = AskOnce({"Question 3?": ModelSetupError("the key is refused")})
    kept: list[RunRecord] = []

    async def main() -> None:
        await run([contestant("a", strategy)], done=set(), keep=kept.append, concurrency=1)

    with pytest.raises(ModelSetupError, match="the key is refused"):
        anyio.run(main)
    assert [record.question_id for record in kept] == ["q0", "q1", "q2"]


def test_a_strategy_sees_the_task_and_nothing_else_of_the_question() -> None:
    seen: list[Task] = []

    class Spy(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            seen.append(task)
            return Attempt(Answer("x", abstained=False))

    question = Question("2hop__1_2", "Who?", "unanswerable", 2, "2hop")
    anyio.run(run_one, contestant("a", Spy()), question)
    assert seen == [Task("Who?", "short")]


def failure_of(strategy: Strategy) -> Failure:
    """The failure of one question, once it has been to the journal and back."""
    record = anyio.run(run_one, contestant("a", strategy), QUESTIONS[0])
    assert (record.outcome, record.answer) == ("failed", None)
    assert record.failure is not None
    record.failure.message.encode()
    journal.encode(record)
    return record.failure


FINE = Answer("Paris", abstained=False, retrieved_ids=("d1",), used_ids=("d1",), cited_ids=("d1",))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "attempt() returned None"),
        ("Paris", "attempt() returned 'Paris'"),
        (Attempt("Paris"), "attempt() returned Attempt(answer='Paris'"),  # type: ignore[arg-type]
        (Attempt(Answer(5, abstained=False)), "field_name='text', input_value=5"),  # type: ignore[arg-type]
        (Attempt(Answer("x", abstained=1)), "field_name='abstained'"),  # type: ignore[arg-type]
        (Attempt(Answer("x", False, ["d1"])), "field_name='retrieved_ids'"),  # type: ignore[arg-type]
        (Attempt(FINE, (Decision("n", "c", float("nan")),)), "it would not come back from the journal as it is"),
        (Attempt(Answer("\ud800", abstained=False)), "surrogates not allowed"),
        (object(), "attempt() returned <object object"),
    ],
)
def test_what_is_no_attempt_fails_its_question_and_is_named(value: Any, said: str) -> None:
    failure = failure_of(HandBack(value))
    assert (failure.stage, failure.type) == ("strategy", "StrategyError")
    assert said in failure.message


def test_a_sound_attempt_goes_through_unchanged() -> None:
    decisions = (Decision("grade", "keep", 0.5, 0.4, "paper", ("evidence",)),)
    record = anyio.run(run_one, contestant("a", HandBack(Attempt(FINE, decisions))), QUESTIONS[0])
    assert (record.answer, record.decisions, record.failure) == (FINE, decisions, None)


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ((("d1", "d9"), (), ()), "retrieved_ids holds 'd9', which is not among the documents of the question's hits"),
        (((), ("d1",), ()), "used_ids holds 'd1', which is not among its retrieved_ids"),
        ((("d1",), (), ("d1",)), "cited_ids holds 'd1', which is not among its used_ids"),
    ],
)
def test_evidence_is_not_taken_on_trust(evidence: tuple[tuple[str, ...], ...], said: str) -> None:
    failure = failure_of(HandBack(Attempt(Answer("x", False, *evidence))))
    assert failure.type == "StrategyError"
    assert said in failure.message


def test_without_a_retrieval_there_is_no_evidence() -> None:
    class Claim(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            return Attempt(FINE)

    assert "retrieved_ids holds 'd1'" in failure_of(Claim()).message


@pytest.mark.parametrize("query", [5, None, "\udfff"])
def test_a_request_that_cannot_be_written_down_fails_its_question(query: Any) -> None:
    class AskOddly(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            await tools.retriever.retrieve(tools.settings.request(query))
            return Attempt(FINE)

    failure = failure_of(AskOddly())
    assert (failure.type, failure.traceback) == ("StrategyError", None)
    assert f"the retriever was asked for RetrievalRequest(query={query!r}" in failure.message


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


def test_retrievals_keep_the_order_of_asking() -> None:
    class SlowFirst(OneHit):
        async def retrieve(self, request: RetrievalRequest) -> Retrieval:
            for _ in range(5 if request.query == "slow" else 0):
                await anyio.lowlevel.checkpoint()
            return await super().retrieve(request)

    class AskInParallel(AskOnce):
        async def attempt(self, task: Task, tools: Tools) -> Attempt:
            async with anyio.create_task_group() as group:
                for query in ("slow", "quick"):
                    group.start_soon(tools.retriever.retrieve, tools.settings.request(query))
            return Attempt(FINE)

    both = Contestant(
        Cell("a", "dense", None), AskInParallel(), SlowFirst(), RetrievalSettings("dense", 5), None, QUESTIONS
    )
    record = anyio.run(run_one, both, QUESTIONS[0])
    assert [retrieval.request.query for retrieval in record.retrievals] == ["slow", "quick"]
