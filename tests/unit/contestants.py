"""Contestants that tests hand to the runner: a model that echoes, strategies that do as they are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio

from arena.protocols import Message, ModelRequest, Reply, RetrievalSettings, Retriever, Strategy, Tools
from arena.runner import Contestant, Keep, run, run_one
from arena.store import journal
from arena.types import (
    Answer,
    Attempt,
    CallAttempt,
    Cell,
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

    async def fits(self, request: ModelRequest) -> bool:
        return True

    async def complete(self, request: ModelRequest) -> Reply:
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        assert not isinstance(request.prompt, str)
        number = int(request.prompt[0].content.split()[1][0])
        for _ in range(10 - number):
            await anyio.lowlevel.checkpoint()
        self.in_flight -= 1
        text = None if self.error else f"echo {number}"
        return Reply(text, LLMCall(request.role, self.name, "0", (CallAttempt(7, 2),), error=self.error))


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
class AskThenWait(AskOnce):
    """As AskOnce, and never comes to an end on the questions it is told to."""

    waits_on: Sequence[str] = ()

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        attempt = await super().attempt(task, tools)
        if task.question in self.waits_on:
            await anyio.sleep_forever()
        return attempt


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


def into(kept: list[RunRecord]) -> Keep:
    """Keeps records in a list."""

    async def keep(record: RunRecord) -> None:
        kept.append(record)

    return keep


def run_all(
    contestants: Sequence[Contestant], concurrency: int = 3, done: set[tuple[str, str]] | None = None
) -> list[RunRecord]:
    kept: list[RunRecord] = []

    async def main() -> None:
        keep = into(kept)
        await run(contestants, done=done or set(), keep=keep, concurrency=concurrency, clock=lambda: 0.0)

    anyio.run(main)
    return kept


def failure_of(strategy: Strategy) -> Failure:
    """The failure of one question, once it has been to the journal and back."""
    record = anyio.run(run_one, contestant("a", strategy), QUESTIONS[0])
    assert (record.outcome, record.answer) == ("failed", None)
    assert record.failure is not None
    record.failure.message.encode()
    journal.encode(record, journal.RECORD_LINES)
    return record.failure


FINE = Answer("Paris", abstained=False, retrieved_ids=("d1",), used_ids=("d1",), cited_ids=("d1",))
