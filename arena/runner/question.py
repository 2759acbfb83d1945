"""One question through one cell.

A strategy's failure becomes a `Failure` value here, in the project's one broad except; so does whatever it hands back
that is no sound `Attempt`, and a question that took too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from traceback import TracebackException

import anyio

from arena.errors import AllowanceSpent, ModelCallError, StrategyError, UserError
from arena.llm.ledger import Ledger
from arena.llm.metering import GIVEN_UP
from arena.metered_retriever import MeteredRetriever, RetrievalLog
from arena.network import redacted
from arena.protocols import EvidenceSource, Tools
from arena.runner.contestant import Contestant
from arena.runner.giving_up import to_its_end
from arena.soundness import sound_attempt
from arena.text import abstains
from arena.types import Attempt, Failure, LLMCall, Question, RunRecord, Stage, well_formed

Clock = Callable[[], float]

TIMED_OUT = "TimeoutError"
"""Type of the failure of a question that took too long."""


async def run_one(
    contestant: Contestant,
    question: Question,
    clock: Clock = perf_counter,
    *,
    timeout_seconds: float | None = None,
    warm_up: bool = False,
) -> RunRecord:
    """One question through one cell. Raises only `UserError` and cancellation.

    A question that takes longer than `timeout_seconds` (None = no bound) is given up and has failed; its record holds
    the retrievals and calls that were finished by then, and those calls that were given up with it.
    """
    elapsed = _stopwatch(clock)
    log = RetrievalLog(elapsed)
    ledger = Ledger(contestant.model, elapsed, contestant.allowance) if contestant.model else None
    tools = _tools(contestant, question, log, ledger)
    attempt: Attempt | None = None
    failure: Failure | None = None
    with anyio.move_on_after(timeout_seconds) as scope:
        try:
            made = await to_its_end(contestant.strategy.attempt(question.task, tools))
            attempt = _declining(sound_attempt(made, log.retrievals, log.brought), contestant.abstentions)
        except Exception as error:  # noqa: BLE001  the one broad except: a strategy may be anyone's code
            causes = tuple(_causes(error))
            for cause in causes:
                if isinstance(cause, UserError):
                    raise cause from None
            attempt, failure = None, _failure(error, causes)
    wall_seconds = elapsed()
    calls = ledger.calls if ledger else ()
    if scope.cancel_called and attempt is None:
        failure = _too_late(timeout_seconds, len(log.retrievals), calls)
    answer = attempt.answer if attempt else None
    return RunRecord(
        cell=contestant.cell,
        question_id=question.question_id,
        outcome="failed" if answer is None else "abstained" if answer.abstained else "answered",
        answer=answer,
        failure=failure,
        retrievals=log.retrievals,
        calls=calls,
        decisions=attempt.decisions if attempt else (),
        wall_seconds=wall_seconds,
        warm_up=warm_up,
    )


def _declining(attempt: Attempt, phrases: Sequence[str]) -> Attempt:
    """`attempt`, whose answer abstains too where it begins with one of `phrases`: the same rule for every strategy."""
    answer = attempt.answer
    if answer is None or answer.abstained or not phrases or not abstains(answer.text or "", phrases):
        return attempt
    return replace(attempt, answer=replace(answer, abstained=True))


def _tools(contestant: Contestant, question: Question, log: RetrievalLog, ledger: Ledger | None) -> Tools:
    def metered(source: EvidenceSource) -> MeteredRetriever:
        return MeteredRetriever(source.for_question(question.question_id), log)

    external = metered(contestant.external) if contestant.external else None
    return Tools(
        metered(contestant.evidence), contestant.settings, ledger, external, contestant.evaluator, contestant.router
    )


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
    trace = None if expected else redacted(well_formed("".join(report.format())))
    return Failure(stage, type(named).__name__, redacted(well_formed(str(report))), trace)


def _too_late(timeout_seconds: float | None, retrievals: int, calls: Sequence[LLMCall]) -> Failure:
    given_up = sum(call.error == GIVEN_UP for call in calls)
    done = f"{retrievals} retrievals and {len(calls) - given_up} model calls were finished by then"
    left = f", {given_up} calls given up" if given_up else ""
    return Failure(
        "timeout", TIMED_OUT, f"no answer within the {timeout_seconds:g} s of question_timeout_seconds; {done}{left}"
    )
