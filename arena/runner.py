"""Questions x cells under a limit -> RunRecords in the journal.

A strategy's failure on one question becomes a `Failure` value here, in the project's one broad except; an
error only the user can mend (`UserError`) stops the run, and what is done stays in the journal.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol, TypeVar

import anyio

from arena.errors import ModelCallError, StrategyError, UserError
from arena.llm.ledger import Ledger
from arena.protocols import ChatModel, EvidenceSource, RetrievalSettings, Retriever, Strategy, Tools
from arena.store import Key
from arena.types import (
    Attempt,
    Cell,
    Failure,
    Passage,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
    Stage,
)

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A cell with all it needs, and the questions it is asked."""

    cell: Cell
    strategy: Strategy
    evidence: EvidenceSource
    settings: RetrievalSettings
    model: ChatModel | None
    questions: tuple[Question, ...]


class Entrant(Protocol):
    """A cell and the questions it is asked."""

    @property
    def cell(self) -> Cell: ...

    @property
    def questions(self) -> tuple[Question, ...]: ...


E = TypeVar("E", bound=Entrant)


def plan(entrants: Sequence[E]) -> list[tuple[E, Question]]:
    """The work in input order: question by question through all cells.

    A stopped run has then come equally far in every cell.
    """
    by_question: dict[str, list[tuple[E, Question]]] = {}
    for entrant in entrants:
        for question in entrant.questions:
            by_question.setdefault(question.question_id, []).append((entrant, question))
    return [item for items in by_question.values() for item in items]


def plan_keys(entrants: Sequence[Entrant]) -> list[Key]:
    """The keys of all records of a complete run, in input order."""
    return [(entrant.cell.key, question.question_id) for entrant, question in plan(entrants)]


async def run(
    contestants: Sequence[Contestant],
    *,
    done: set[Key],
    keep: Callable[[RunRecord], None],
    concurrency: int,
    clock: Clock = perf_counter,
) -> None:
    """Run what is not in `done`, at most `concurrency` questions at once; `keep` gets each record as it is made.

    Raises:
        UserError: something only the user can mend; questions in flight are given up, kept records stay.
    """
    waiting = iter(
        [(one, question) for one, question in plan(contestants) if (one.cell.key, question.question_id) not in done]
    )
    stopped: list[UserError] = []

    async def worker(scope: anyio.CancelScope) -> None:
        for contestant, question in waiting:
            try:
                keep(await run_one(contestant, question, clock))
            except UserError as error:
                stopped.append(error)
                scope.cancel()
                return

    async with anyio.create_task_group() as group:
        for _ in range(concurrency):
            group.start_soon(worker, group.cancel_scope)
    if stopped:
        raise stopped[0]


async def run_one(contestant: Contestant, question: Question, clock: Clock = perf_counter) -> RunRecord:
    """One question through one cell. Raises only `UserError` and cancellation."""
    retriever = MeteredRetriever(contestant.evidence.for_question(question.question_id), clock)
    ledger = Ledger(contestant.model) if contestant.model else None
    tools = Tools(retriever, contestant.settings, ledger)
    attempt: Attempt | None = None
    failure: Failure | None = None
    started = clock()
    try:
        attempt = await contestant.strategy.attempt(question.task, tools)
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001  the one broad except: a strategy may be anyone's code
        failure = _failure(error)
    wall_seconds = clock() - started
    answer = attempt.answer if attempt else None
    return RunRecord(
        cell=contestant.cell,
        question_id=question.question_id,
        outcome="failed" if answer is None else "abstained" if answer.abstained else "answered",
        answer=answer,
        failure=failure,
        retrievals=tuple(retriever.retrievals),
        calls=ledger.calls if ledger else (),
        decisions=attempt.decisions if attempt else (),
        wall_seconds=wall_seconds,
    )


@dataclass(slots=True)
class MeteredRetriever:
    """A retriever as one question sees it: every retrieval is kept, with the time it waited for others."""

    inner: Retriever
    clock: Clock
    retrievals: list[Retrieval] = field(default_factory=list)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        started = self.clock()
        retrieval = await self.inner.retrieve(request)
        worked = retrieval.seconds.embed + retrieval.seconds.search + retrieval.seconds.rerank
        queue = max(0.0, self.clock() - started - worked)
        self.retrievals.append(replace(retrieval, seconds=replace(retrieval.seconds, queue=queue)))
        return retrieval

    def passage(self, passage_id: str) -> Passage:
        return self.inner.passage(passage_id)


def _failure(error: Exception) -> Failure:
    stage: Stage = "model" if isinstance(error, ModelCallError) else "strategy"
    expected = isinstance(error, ModelCallError | StrategyError)
    trace = None if expected else "".join(traceback.format_exception(error))
    return Failure(stage, type(error).__name__, str(error), trace)
