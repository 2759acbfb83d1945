"""Systems of the user's own as contestants: asked the same questions in the same run as the strategies.

What a system does not report is unknown. Of what it is sent nothing is gold, and nothing of the run's own keys.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import anyio.to_thread

from arena.config import RunConfig, SystemConfig
from arena.errors import ConfigError, StrategyError
from arena.protocols import RetrievalSettings, Tools
from arena.runner import Contestant
from arena.types import (
    OWN_MODE,
    Answer,
    Attempt,
    Cell,
    Dataset,
    LLMCall,
    Question,
    Retrieval,
    RetrievalSeconds,
    Scalar,
    Task,
)
from experiments.execution.callers import open_caller
from experiments.execution.evidence import NoEvidence
from experiments.execution.foreign import AnswerLine, answer_of, calls_of, retrievals_of
from experiments.execution.replies import DocumentLookup, SystemReply, line_of, read_reply
from experiments.execution.system_gate import SystemGate, SystemQuery, SystemWork
from strategies import strategy_names


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """A system under its name, and the questions it is to be asked."""

    name: str
    settings: SystemConfig
    questions: tuple[Question, ...]

    @property
    def cell(self) -> Cell:
        """What of the settings can change an answer."""
        wanted = self.settings
        params: dict[str, Scalar] = {wanted.kind: wanted.target}
        params |= {"version": wanted.version} if wanted.version is not None else {}
        params |= {"k": wanted.k} if wanted.k is not None else {}
        return Cell(self.name, OWN_MODE, wanted.model if wanted.answers else None, params)


def check_names(config: RunConfig) -> None:
    """Raise `ConfigError` for a system that is named like a strategy, whose rows it would be taken for."""
    taken = sorted(set(config.systems) & set(strategy_names()))
    if taken:
        raise ConfigError(f"{taken[0]!r} is a strategy of the arena: name the system otherwise")


@dataclass(frozen=True, slots=True)
class OwnSystem:
    """A system as a `Strategy`. `gate` None: it is not open yet."""

    entry: SystemEntry
    lookup: DocumentLookup
    abstentions: tuple[str, ...]
    gate: SystemGate | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[OwnSystem]:
        """It with its connections, its processes or its threads."""
        name, settings = self.entry.name, self.entry.settings
        async with open_caller(name, settings) as caller:
            yield replace(self, gate=SystemGate(caller, settings, f"system {name!r} ({settings.typed})"))

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        report, gate = tools.report, self.gate
        if report is None or gate is None:
            raise StrategyError(f"system {self.entry.name!r} is not open")
        work = SystemWork(report.clock())
        line, error = AnswerLine(question_id=""), "it was given up, or gave no answer that could be read"
        try:
            reply = read_reply(await gate.ask(SystemQuery(task), work), answers=self.entry.settings.answers)
            answered = report.clock()
            line, error = await anyio.to_thread.run_sync(self._line, reply), reply.error or ""
            work.lookup_seconds = report.clock() - answered
        finally:
            report.calls += _calls(self.entry.cell, line, work, error or None)
        report.retrievals += _retrievals(task.question, line, work, timed=not report.calls)
        if reply.error is not None:
            raise StrategyError(f"system {self.entry.name!r} says: {reply.error}")
        return Attempt(_answer(line, self.lookup, writes=self.entry.settings.answers))

    def _line(self, reply: SystemReply) -> AnswerLine:
        line = line_of(reply, self.lookup, self.abstentions)
        return line.model_copy(update={"k": self.entry.settings.k})


def _answer(line: AnswerLine, lookup: DocumentLookup, *, writes: bool) -> Answer:
    answer = answer_of(line, lookup.documents)
    return answer if writes else replace(answer, text=None, abstained=False)


def _calls(cell: Cell, line: AnswerLine, work: SystemWork, error: str | None) -> list[LLMCall]:
    """What the system says of its calls; the requests that it took, with their waits, are those of the first.

    To look its documents up is our work: it waited for us meanwhile, and is none the slower for it.
    Requests before the last were not answered, and nobody knows what they used.
    """
    stated = calls_of(cell, line)
    if not stated:
        return []
    first, *others = stated
    (told,) = first.attempts
    attempts = tuple(work.attempts)
    if attempts and attempts[-1].fault is None:
        last = replace(
            attempts[-1],
            input_tokens=told.input_tokens,
            output_tokens=told.output_tokens,
            queue_seconds=attempts[-1].queue_seconds + work.lookup_seconds,
        )
        attempts = (*attempts[:-1], last)
    asked = replace(
        first,
        attempts=attempts,
        backoff_seconds=work.backoff_seconds,
        started_seconds=work.started_seconds,
        error=error,
    )
    return [asked, *others]


def _retrievals(query: str, line: AnswerLine, work: SystemWork, *, timed: bool) -> Iterable[Retrieval]:
    """What it says it retrieved; `timed`: with the seconds of the requests, which no call has."""
    found = retrievals_of(query, line, OWN_MODE)
    if not timed:
        return found
    waited = work.backoff_seconds + work.lookup_seconds + sum(one.queue_seconds for one in work.attempts)
    served = sum(one.service_seconds for one in work.attempts)
    seconds = RetrievalSeconds(search=served, queue=waited, started=work.started_seconds)
    return [replace(one, seconds=seconds) for one in found]


def system_contestants(config: RunConfig, entries: Sequence[SystemEntry], dataset: Dataset) -> tuple[Contestant, ...]:
    """The systems with all they need but their connections (`open_systems`)."""
    if not entries:
        return ()
    lookup = DocumentLookup.of(dataset.documents)
    return tuple(
        Contestant(
            cell=entry.cell,
            strategy=OwnSystem(entry, lookup, config.abstentions),
            evidence=NoEvidence(),
            settings=RetrievalSettings(OWN_MODE, entry.settings.k or config.retrieval.k),
            model=None,
            questions=entry.questions,
            abstentions=config.abstentions,
        )
        for entry in entries
    )


@asynccontextmanager
async def open_systems(competing: Iterable[Contestant]) -> AsyncIterator[tuple[Contestant, ...]]:
    """The contestants, the systems among them with open connections. Raises as `open_caller`."""
    async with AsyncExitStack() as stack:
        ready: list[Contestant] = []
        for one in competing:
            strategy = one.strategy
            if isinstance(strategy, OwnSystem):
                one = replace(one, strategy=await stack.enter_async_context(strategy.opened()))
            ready.append(one)
        yield tuple(ready)
