"""Questions x cells under a limit -> RunRecords in the journal.

A strategy's failure on one question becomes a `Failure` value here, in the project's one broad except; so does
whatever it hands back that is no sound `Attempt`. An error only the user can mend (`UserError`) stops the
run, and what is done stays in the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from traceback import TracebackException
from typing import Protocol, TypeVar

import anyio
from pydantic import TypeAdapter

from arena.errors import ModelCallError, StrategyError, UserError
from arena.llm.ledger import Ledger
from arena.protocols import ChatModel, EvidenceSource, RetrievalSettings, Retriever, Strategy, Tools
from arena.store import Key
from arena.types import (
    Answer,
    Attempt,
    Cell,
    Failure,
    Passage,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
    Stage,
    well_formed,
)

Clock = Callable[[], float]

_ATTEMPT = TypeAdapter(Attempt)
_REQUEST = TypeAdapter(RetrievalRequest)


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
S = TypeVar("S")


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
    elapsed = _stopwatch(clock)
    retriever = MeteredRetriever(contestant.evidence.for_question(question.question_id), elapsed)
    ledger = Ledger(contestant.model, elapsed) if contestant.model else None
    tools = Tools(retriever, contestant.settings, ledger)
    attempt: Attempt | None = None
    failure: Failure | None = None
    try:
        attempt = _sound(await contestant.strategy.attempt(question.task, tools), _ATTEMPT, "attempt() returned")
        _check_evidence(attempt.answer, retriever.retrievals)
    except Exception as error:  # noqa: BLE001  the one broad except: a strategy may be anyone's code
        causes = tuple(_causes(error))
        for cause in causes:
            if isinstance(cause, UserError):
                raise cause from None
        attempt, failure = None, _failure(error, causes)
    wall_seconds = elapsed()
    answer = attempt.answer if attempt else None
    return RunRecord(
        cell=contestant.cell,
        question_id=question.question_id,
        outcome="failed" if answer is None else "abstained" if answer.abstained else "answered",
        answer=answer,
        failure=failure,
        retrievals=retriever.retrievals,
        calls=ledger.calls if ledger else (),
        decisions=attempt.decisions if attempt else (),
        wall_seconds=wall_seconds,
    )


@dataclass(slots=True)
class MeteredRetriever:
    """A retriever as one question sees it: every retrieval is kept, with its start and how long it waited for others.

    `clock` gives the seconds since the question's start.
    """

    inner: Retriever
    clock: Clock
    _entries: list[Retrieval | None] = field(default_factory=list)

    @property
    def retrievals(self) -> tuple[Retrieval, ...]:
        """The finished retrievals, in the order in which they were asked for, whichever finished first."""
        return tuple(entry for entry in self._entries if entry is not None)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        _sound(request, _REQUEST, "the retriever was asked for")
        place = len(self._entries)
        self._entries.append(None)
        started = self.clock()
        retrieval = await self.inner.retrieve(request)
        queue = max(0.0, self.clock() - started - retrieval.seconds.worked)
        self._entries[place] = replace(retrieval, seconds=replace(retrieval.seconds, started=started, queue=queue))
        return retrieval

    def passage(self, passage_id: str) -> Passage:
        return self.inner.passage(passage_id)


def _stopwatch(clock: Clock) -> Clock:
    started = clock()
    return lambda: clock() - started


def _sound(value: S, kind: TypeAdapter[S], what: str) -> S:
    """`value`, if it comes back from JSON as it was: every field of its declared type, text well-formed, no NaN."""
    try:
        if kind.validate_json(kind.dump_json(value, warnings="error"), strict=True) == value:
            return value
        reason = "it would not come back from the journal as it is"
    except ValueError as error:
        reason = str(error)
    raise StrategyError(f"{what} {value!r:.200}: {' '.join(reason.split())}")


def _check_evidence(answer: Answer, retrievals: Sequence[Retrieval]) -> None:
    """Each stage of the evidence comes from the one before, and the first from this question's own retrievals."""
    brought = {hit.doc_id for retrieval in retrievals for hit in retrieval.hits}
    for stage, ids, source, known in (
        ("retrieved_ids", answer.retrieved_ids, "the documents of the question's hits", brought),
        ("used_ids", answer.used_ids, "its retrieved_ids", set(answer.retrieved_ids)),
        ("cited_ids", answer.cited_ids, "its used_ids", set(answer.used_ids)),
    ):
        for doc_id in ids:
            if doc_id not in known:
                raise StrategyError(f"the answer's {stage} holds {doc_id!r}, which is not among {source}")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """`error`, or what the groups hold in which a task group wraps it."""
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _causes(member)
    else:
        yield error


def _failure(error: Exception, causes: Sequence[BaseException]) -> Failure:
    """The first of `causes`, if all are failures that belong to a run; else `error` with its traceback."""
    expected = all(isinstance(cause, ModelCallError | StrategyError) for cause in causes)
    named = causes[0] if expected else error
    stage: Stage = "model" if isinstance(named, ModelCallError) else "strategy"
    # A foreign exception may fail to print itself; this prints it all the same.
    report = TracebackException.from_exception(named)
    trace = None if expected else well_formed("".join(report.format()))
    return Failure(stage, type(named).__name__, well_formed(str(report)), trace)
