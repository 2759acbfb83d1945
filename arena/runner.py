"""Questions x cells under a limit -> RunRecords in the journal.

A strategy's failure on one question becomes a `Failure` value here, in the project's one broad except; so does
whatever it hands back that is no sound `Attempt`. An error only the user can mend (`UserError`) stops the
run, and what is done stays in the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from traceback import TracebackException
from typing import Protocol, TypeVar

import anyio

from arena.errors import AllowanceSpent, ModelCallError, StrategyError, UserError
from arena.llm.allowance import UNBOUNDED, Allowance
from arena.llm.ledger import Ledger
from arena.metered_retriever import MeteredRetriever, RetrievalLog
from arena.protocols import ChatModel, Evaluator, EvidenceSource, RetrievalSettings, Strategy, Tools
from arena.soundness import sound_attempt
from arena.store import Key
from arena.types import Attempt, Cell, Failure, Question, RunRecord, Stage, well_formed

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A cell with all it needs, and the questions it is asked.

    `external` is the other source of knowledge, `evaluator` the trained judge of passages, of strategies that use one;
    `allowance` bounds what each question may use.
    """

    cell: Cell
    strategy: Strategy
    evidence: EvidenceSource
    settings: RetrievalSettings
    model: ChatModel | None
    questions: tuple[Question, ...]
    external: EvidenceSource | None = None
    evaluator: Evaluator | None = None
    allowance: Allowance = UNBOUNDED


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
        UserError: something only the user can mend. No further question is begun; those in flight, which may have
            been paid for, end as they do.
    """
    waiting = iter(
        [(one, question) for one, question in plan(contestants) if (one.cell.key, question.question_id) not in done]
    )
    stopped: list[UserError] = []

    async def worker() -> None:
        for contestant, question in waiting:
            try:
                keep(await run_one(contestant, question, clock))
            except UserError as error:
                stopped.append(error)
            if stopped:
                return

    async with anyio.create_task_group() as group:
        for _ in range(concurrency):
            group.start_soon(worker)
    if stopped:
        raise stopped[0]


async def run_one(contestant: Contestant, question: Question, clock: Clock = perf_counter) -> RunRecord:
    """One question through one cell. Raises only `UserError` and cancellation."""
    elapsed = _stopwatch(clock)
    log = RetrievalLog(elapsed)
    ledger = Ledger(contestant.model, elapsed, contestant.allowance) if contestant.model else None
    tools = _tools(contestant, question, log, ledger)
    attempt: Attempt | None = None
    failure: Failure | None = None
    try:
        attempt = sound_attempt(await contestant.strategy.attempt(question.task, tools), log.retrievals)
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
        retrievals=log.retrievals,
        calls=ledger.calls if ledger else (),
        decisions=attempt.decisions if attempt else (),
        wall_seconds=wall_seconds,
    )


def _tools(contestant: Contestant, question: Question, log: RetrievalLog, ledger: Ledger | None) -> Tools:
    def metered(source: EvidenceSource) -> MeteredRetriever:
        return MeteredRetriever(source.for_question(question.question_id), log)

    external = metered(contestant.external) if contestant.external else None
    return Tools(metered(contestant.evidence), contestant.settings, ledger, external, contestant.evaluator)


def _stopwatch(clock: Clock) -> Clock:
    started = clock()
    return lambda: clock() - started


def _causes(error: BaseException) -> Iterator[BaseException]:
    """`error`, or what the groups hold in which a task group wraps it."""
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from _causes(member)
    else:
        yield error


def _failure(error: Exception, causes: Sequence[BaseException]) -> Failure:
    """The first of `causes`, if all are failures that belong to a run; else `error` with its traceback."""
    expected = all(isinstance(cause, ModelCallError | StrategyError | AllowanceSpent) for cause in causes)
    named = causes[0] if expected else error
    stage: Stage = "model" if isinstance(named, ModelCallError) else "strategy"
    # A foreign exception may fail to print itself; this prints it all the same.
    report = TracebackException.from_exception(named)
    trace = None if expected else well_formed("".join(report.format()))
    return Failure(stage, type(named).__name__, well_formed(str(report)), trace)
