"""Ask one question of one cell, and hand back its record.

A strategy's failure becomes a `Failure` value here, in the project's one broad except. So does whatever it hands back
that is no sound `Attempt`, and a question that took too long: its requests, its attempt and the evidence of its answer
are checked, not trusted. Work that is given up is ended before the record is made, so that none of it keeps running.
Every retrieval is noted with its start and how long it waited for others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from traceback import TracebackException
from typing import Any, TypeVar

import anyio
from pydantic import TypeAdapter

from arena.errors import AllowanceSpent, ModelCallError, StrategyError, UserError
from arena.llm.ledger import Ledger
from arena.llm.limits import UNBOUNDED, Allowance
from arena.llm.metering import GIVEN_UP
from arena.network import redacted
from arena.plan import Key
from arena.protocols import (
    ChatModel,
    Evaluator,
    EvidenceSource,
    OwnReport,
    RetrievalSettings,
    Retriever,
    Router,
    Strategy,
    Tools,
)
from arena.text import abstains
from arena.types import (
    LIVE_MODE,
    OWN_MODE,
    Answer,
    Attempt,
    Cell,
    Failure,
    LLMCall,
    Passage,
    Question,
    Retrieval,
    RetrievalRequest,
    RunRecord,
    ShownDocument,
    Stage,
    grouped,
    well_formed,
)

GRACE_SECONDS = 10.0
"""For what was given up to end by itself: a thread that computes, a connection that is closed."""

T = TypeVar("T")


async def to_its_end(work: Awaitable[T], grace_seconds: float = GRACE_SECONDS) -> T:
    """The result of `work`, in a task of its own; a cancelled caller gets its cancellation when `work` has ended.

    anyio cancels a task again at its every wait. Who only waits for tasks of its own to end, as LangGraph does, is cut
    short by that, and they go on asking a model that nobody pays attention to, and that is paid all the same. `work` is
    cancelled once. If it takes no notice for `grace_seconds`, it is left behind: a run must not hang.

    Raises:
        StrategyError: `work` was cancelled from within.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task}, timeout=grace_seconds)
        task.add_done_callback(_forget)
        raise
    if task.cancelled():
        raise StrategyError("it was cancelled from within, and nobody had given it up")
    return task.result()


def _forget(task: asyncio.Future[Any]) -> None:
    """Look at the error of what nobody waits for, so that asyncio does not report it."""
    with suppress(asyncio.CancelledError):
        task.exception()


_ATTEMPT = TypeAdapter(Attempt)
_REQUEST = TypeAdapter(RetrievalRequest)


def sound_attempt(
    value: Attempt,
    retrievals: Sequence[Retrieval],
    brought: Callable[[Collection[str]], Iterable[Passage]],
    *,
    own: bool = False,
) -> Attempt:
    """`value`, if it is an attempt that can be written down, on evidence that the question's `retrievals` brought.

    `brought`: of these documents, the passages of kept texts among it. A shown text that is to be found there is left
    to its spans; spans that give another text are left out, and the text stays. `own`: of a system that
    brings its texts itself, and may cite what it does not report.

    Raises:
        StrategyError: it is not; the message names the field.
    """
    attempt = _sound(value, _ATTEMPT, "attempt() returned")
    answer = attempt.answer
    _check_evidence(answer, retrievals, own=own)
    if not answer.shown or own:
        return attempt
    pieces: dict[str, list[Passage]] = {}
    for passage in brought(answer.used_ids):
        pieces.setdefault(passage.doc_id, []).append(passage)
    shown = tuple(_looked_up(one, pieces.get(one.doc_id, ())) for one in answer.shown)
    return replace(attempt, answer=replace(answer, shown=shown))


def _sound(value: T, kind: TypeAdapter[T], what: str) -> T:
    """`value`, if it comes back from JSON as it was: every field of its declared type, text well-formed, no NaN."""
    try:
        if kind.validate_json(kind.dump_json(value, warnings="error"), strict=True) == value:
            return value
        reason = "it would not come back from the journal as it is"
    except ValueError as error:
        reason = str(error)
    raise StrategyError(f"{what} {value!r:.200}: {' '.join(reason.split())}")


def _check_evidence(answer: Answer, retrievals: Sequence[Retrieval], *, own: bool) -> None:
    """Each stage of the evidence comes from the one before, and the first from this question's own retrievals."""
    brought = {hit.doc_id for retrieval in retrievals for hit in retrieval.hits}
    for stage, ids, source, known in (
        ("retrieved_ids", answer.retrieved_ids, "the documents of the question's hits", brought),
        ("used_ids", answer.used_ids, "its retrieved_ids", set(answer.retrieved_ids)),
        ("cited_ids", () if own else answer.cited_ids, "its used_ids", set(answer.used_ids)),
    ):
        for doc_id in ids:
            if doc_id not in known:
                raise StrategyError(f"the answer's {stage} holds {doc_id!r}, which is not among {source}")
    if answer.shown is not None and tuple(one.doc_id for one in answer.shown) != answer.used_ids:
        raise StrategyError(
            f"the answer's shown is of {[one.doc_id for one in answer.shown]!r:.200}, and its used_ids are "
            f"{list(answer.used_ids)!r:.200}: both name what was shown, each once and in one order"
        )


def _looked_up(shown: ShownDocument, passages: Sequence[Passage]) -> ShownDocument:
    """`shown` by its spans alone where these give its text, else by its text alone."""
    found = [_text_at(span, passages) for span in shown.spans]
    texts = [text for text in found if text is not None]
    whole = bool(texts) and len(texts) == len(found)
    if shown.text is None:
        if not whole:
            raise StrategyError(
                f"the answer's shown names spans {list(shown.spans)!r:.100} of {shown.doc_id!r}, which no retrieval "
                "brought, and no text: give the text as it was shown"
            )
        return shown
    if whole and _words(shown.text) == _words(passages[0].title, *texts):
        return replace(shown, text=None)
    return replace(shown, spans=())


def _text_at(span: tuple[int, int], passages: Sequence[Passage]) -> str | None:
    """What stands there in the document of `passages`; None = none of them reaches so far."""
    start, end = span
    for passage in passages:
        if passage.start_char <= start <= end <= passage.end_char and not passage.parts:
            return passage.text[start - passage.start_char : end - passage.start_char]
    return None


def _words(*texts: str) -> list[str]:
    return [word for text in texts for word in text.split()]


@dataclass(slots=True)
class RetrievalLog:
    """One question's retrievals, from all of its sources. `clock` gives the seconds since the question's start."""

    clock: Callable[[], float]
    _entries: list[Retrieval | None] = field(default_factory=list)
    _sources: dict[tuple[str, str], Retriever] = field(default_factory=dict)

    @property
    def retrievals(self) -> tuple[Retrieval, ...]:
        """The finished retrievals, in the order in which they were asked for, whichever finished first."""
        return tuple(entry for entry in self._entries if entry is not None)

    def brought(self, doc_ids: Collection[str]) -> tuple[Passage, ...]:
        """The passages of these documents that retrievals brought; of a live search none, as nobody keeps its texts."""
        return tuple(
            source.passage(passage_id) for (passage_id, doc_id), source in self._sources.items() if doc_id in doc_ids
        )

    async def note(self, source: Retriever, request: RetrievalRequest) -> Retrieval:
        """What `source` brings, with its place in the order of asking."""
        place = len(self._entries)
        self._entries.append(None)
        started = self.clock()
        retrieval = await source.retrieve(request)
        queue = max(0.0, self.clock() - started - retrieval.seconds.worked)
        noted = replace(retrieval, seconds=replace(retrieval.seconds, started=started, queue=queue))
        self._entries[place] = noted
        if noted.request.mode != LIVE_MODE:
            self._sources |= {(hit.passage_id, hit.doc_id): source for hit in noted.hits}
        return noted


@dataclass(frozen=True, slots=True)
class MeteredRetriever:
    """A retriever whose every retrieval is checked and entered in `log`."""

    inner: Retriever
    log: RetrievalLog

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        _sound(request, _REQUEST, "the retriever was asked for")
        return await self.log.note(self.inner, request)

    def passage(self, passage_id: str) -> Passage:
        return self.inner.passage(passage_id)


@dataclass(frozen=True, slots=True)
class Contestant:
    """A cell with all it needs, and the questions it is asked. `model` is None until one is open, and if it asks none.

    `external` is the other source of knowledge, `evaluator` the trained judge of passages and `router` that of
    questions, of strategies that use one; `allowance` bounds what each question may use. `abstentions`: how an answer
    begins that declines to answer, beside what a strategy knows itself.
    """

    cell: Cell
    strategy: Strategy
    evidence: EvidenceSource
    settings: RetrievalSettings
    model: ChatModel | None
    questions: tuple[Question, ...]
    external: EvidenceSource | None = None
    evaluator: Evaluator | None = None
    router: Router | None = None
    allowance: Allowance = UNBOUNDED
    abstentions: tuple[str, ...] = ()

    @property
    def asks_model(self) -> bool:
        return self.cell.llm is not None and self.cell.retrieval_mode != OWN_MODE


def plan(contestants: Sequence[Contestant]) -> list[tuple[Contestant, Question]]:
    """The work in input order: question by question through all cells.

    A stopped run has then come equally far in every cell.
    """
    by_question = grouped((question.question_id, (one, question)) for one in contestants for question in one.questions)
    return [item for items in by_question.values() for item in items]


def plan_keys(contestants: Sequence[Contestant]) -> list[Key]:
    """The keys of all records of a complete run, in input order."""
    keys = {id(contestant): contestant.cell.key for contestant in contestants}
    return [(keys[id(contestant)], question.question_id) for contestant, question in plan(contestants)]


Clock = Callable[[], float]


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
    started = clock()

    def elapsed() -> float:
        return clock() - started

    log = RetrievalLog(elapsed)
    ledger = Ledger(contestant.model, elapsed, contestant.allowance) if contestant.model else None
    report = OwnReport(elapsed)
    tools = _tools(contestant, question, log, ledger, report)
    attempt: Attempt | None = None
    failure: Failure | None = None
    with anyio.move_on_after(timeout_seconds) as scope:
        try:
            made = await to_its_end(contestant.strategy.attempt(question.task, tools))
            retrievals = (*log.retrievals, *report.retrievals)
            sound = sound_attempt(made, retrievals, log.brought, own=tools.report is not None)
            attempt = _declining(sound, contestant.abstentions)
        except Exception as error:  # noqa: BLE001  the one broad except: a strategy may be anyone's code
            causes = tuple(_causes(error))
            for cause in causes:
                if isinstance(cause, UserError):
                    raise cause from None
            attempt, failure = None, _failure(error, causes)
    wall_seconds = elapsed()
    calls = ledger.calls if ledger else tuple(report.calls)
    retrievals = (*log.retrievals, *report.retrievals)
    if scope.cancel_called and attempt is None:
        failure = _too_late(timeout_seconds, len(retrievals), calls)
    answer = attempt.answer if attempt else None
    return RunRecord(
        cell=contestant.cell,
        question_id=question.question_id,
        outcome="failed" if answer is None else "abstained" if answer.abstained else "answered",
        answer=answer,
        failure=failure,
        retrievals=retrievals,
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


def _tools(
    contestant: Contestant, question: Question, log: RetrievalLog, ledger: Ledger | None, report: OwnReport
) -> Tools:
    def metered(source: EvidenceSource) -> MeteredRetriever:
        return MeteredRetriever(source.for_question(question.question_id), log)

    external = metered(contestant.external) if contestant.external else None
    return Tools(
        metered(contestant.evidence),
        contestant.settings,
        ledger,
        external,
        contestant.evaluator,
        contestant.router,
        report if contestant.cell.retrieval_mode == OWN_MODE else None,
    )


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
        "timeout",
        "TimeoutError",
        f"no answer within the {timeout_seconds:g} s of question_timeout_seconds; {done}{left}",
    )
