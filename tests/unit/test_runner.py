from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio
import pytest

from arena.errors import ModelSetupError, StrategyError
from arena.protocols import Message, Reply, RetrievalSettings, Retriever, Tools
from arena.runner import Contestant, plan_keys, run, run_one
from arena.store import key_of
from arena.types import (
    Answer,
    Attempt,
    Cell,
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


def contestant(name: str, strategy: AskOnce | None = None, model: EchoModel | None = None) -> Contestant:
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
