"""Ask all questions of all cells, a bounded number at once, and keep each record as it is made.

Before the long part, each cell is asked its first questions, to find out whether it can answer at all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TypeVar

import anyio

from arena.errors import UserError
from arena.plan import Key
from arena.runner.question import Clock, Contestant, plan, plan_keys, run_one
from arena.types import Question, RunRecord, grouped

Ask = Callable[[], Awaitable[RunRecord]]
Keep = Callable[[RunRecord], Awaitable[None]]

CHECKED = 3
"""Failed first questions that condemn a cell; one or two may be the questions' fault."""


async def ask_first(questions: Sequence[Ask], keep: Keep, *, proven: bool) -> int:
    """Ask a cell its first questions, at most `CHECKED`, until one does not fail; how many were asked.

    Their records are kept like any other's. Of a cell that is `proven`, having records already, one question is asked
    and its failure tells nothing.

    Raises:
        UserError: all `CHECKED` of them failed. They are not kept, so that they are asked again when the run goes on.
    """
    failed: list[RunRecord] = []
    for n_asked, ask in enumerate(questions[:CHECKED], start=1):
        record = await ask()
        if record.failure is None or proven:
            for one in (*failed, record):
                await keep(one)
            return n_asked
        failed.append(record)
    if len(failed) == CHECKED:
        raise UserError(_broken(failed[-1]))
    for one in failed:
        await keep(one)
    return len(failed)


def _broken(record: RunRecord) -> str:
    failure = record.failure
    assert failure is not None
    cell = record.cell
    return (
        f"{cell.strategy} in mode {cell.retrieval_mode} (cell {cell.key}) failed each of its first {CHECKED} "
        f"questions, the last of them {record.question_id!r} at stage {failure.stage} with {failure.type}: "
        f"{failure.message}. Nothing of them is kept. Mend what fails and go on with --resume, or leave "
        "this check out with --set health_check=false"
    )


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Item:
    """A question for a cell; `key` is that of its record."""

    key: Key
    contestant: Contestant
    question: Question


async def run(
    contestants: Sequence[Contestant],
    *,
    done: AbstractSet[Key],
    keep: Keep,
    concurrency: int,
    timeout_seconds: float | None = None,
    health_check: bool = False,
    clock: Clock = perf_counter,
) -> None:
    """Run what is not in `done`, at most `concurrency` questions at once; `keep` gets each record as it is made.

    A record counts as kept when `keep` returns, which no cancellation cuts short, and only then does its place among
    the questions in flight go to another. With `health_check`, the first question of every cell is asked before the
    others.

    Raises:
        UserError: something only the user can mend, a cell that fails its health check among it. No further question
            is begun; those in flight, which may have been paid for, end as they do.
    """
    desk = _AnswerQueue(keep, clock, timeout_seconds)
    items = [_Item(key, *pair) for key, pair in zip(plan_keys(contestants), plan(contestants), strict=True)]
    left = [item for item in items if item.key not in done]
    if health_check:
        # A broken cell so costs its first questions, and not what all others cost meanwhile.
        asked = await _check(left, desk, {cell for cell, _ in done}, concurrency)
        left = [item for item in left if item.key not in asked]
    await each(left, desk.ask_and_keep, concurrency)


@dataclass(slots=True)
class _AnswerQueue:
    """Asks questions and hands their records on; knows which cells were asked anything yet."""

    hand_on: Keep
    clock: Clock
    timeout_seconds: float | None
    _warm: set[str] = field(default_factory=set)

    async def ask(self, item: _Item) -> RunRecord:
        cell, _ = item.key
        warm_up = cell not in self._warm
        self._warm.add(cell)
        return await run_one(
            item.contestant, item.question, self.clock, timeout_seconds=self.timeout_seconds, warm_up=warm_up
        )

    async def keep(self, record: RunRecord) -> None:
        with anyio.CancelScope(shield=True):
            await self.hand_on(record)

    async def ask_and_keep(self, item: _Item) -> None:
        await self.keep(await self.ask(item))


async def _check(
    left: Sequence[_Item], desk: _AnswerQueue, proven: AbstractSet[str], concurrency: int
) -> AbstractSet[Key]:
    """Ask every cell its first questions; the keys of their records."""
    cells = grouped((item.key[0], item) for item in left)
    asked: set[Key] = set()

    async def check(cell: str) -> None:
        first = cells[cell][:CHECKED]
        n_asked = await ask_first([partial(desk.ask, item) for item in first], desk.keep, proven=cell in proven)
        asked.update(item.key for item in first[:n_asked])

    await each(cells, check, concurrency)
    return asked


async def each(items: Iterable[T], act: Callable[[T], Awaitable[None]], concurrency: int) -> None:
    """`act` on all of `items`, in their order, on at most `concurrency` at once.

    Raises:
        UserError: the first that any `act` raised. No other is begun after it, and those under way end as they do.
    """
    waiting = iter(items)
    stopped: list[UserError] = []

    async def worker() -> None:
        for item in waiting:
            try:
                await act(item)
            except UserError as error:
                stopped.append(error)
            if stopped:
                return

    async with anyio.create_task_group() as group:
        for _ in range(concurrency):
            group.start_soon(worker)
    if stopped:
        raise stopped[0]
