"""One question through one contestant, with all that was asked on the way; the usual ones are run once and kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import anyio

from arena.protocols import Tools, Writer
from arena.types import Answer, Attempt, Decision, Task
from strategies import GraphStrategy
from tests.contract.contestants import JUDGES, VARIANTS
from tests.contract.shelf import SETTINGS, TASK, LengthEvaluator, ShelfRetriever, SureRouter, elsewhere
from tests.scripted_writer import ScriptedWriter

REPLY = "Mirelle Ostrand [1]"


@dataclass(frozen=True)
class Course:
    """What came of an attempt, and whom it asked for what."""

    judge: str
    attempt: Attempt
    index: ShelfRetriever
    external: ShelfRetriever
    writer: ScriptedWriter

    @property
    def answer(self) -> Answer:
        return self.attempt.answer

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return self.attempt.decisions


@cache
def strategy(entry: str) -> GraphStrategy:
    """The contestant, built once as for a cell."""
    return VARIANTS[entry].build()


def tools(entry: str, index: ShelfRetriever, external: ShelfRetriever, writer: Writer) -> Tools:
    """What a contestant is given."""
    given = writer if VARIANTS[entry].spec.needs_model else None
    return Tools(index, SETTINGS, given, external, LengthEvaluator(), SureRouter())


def run(
    entry: str,
    judge: str = "certain",
    reply: str = REPLY,
    task: Task = TASK,
    index: ShelfRetriever | None = None,
    external: ShelfRetriever | None = None,
) -> Course:
    """One attempt. The model always writes `reply` and judges as `judge` does."""
    writer = ScriptedWriter(text=lambda role, prompt: reply, verdict=JUDGES[judge], logprob=-0.2)
    index, external = index or ShelfRetriever(), external or elsewhere()
    attempt = anyio.run(strategy(entry).attempt, task, tools(entry, index, external, writer))
    return Course(judge, attempt, index, external, writer)


usual = cache(run)
"""`run`, once for equal arguments."""


def under_every_judge(entry: str, task: Task = TASK) -> Iterator[Course]:
    """The usual course, judge by judge."""
    return (usual(entry, judge, task=task) for judge in JUDGES)
