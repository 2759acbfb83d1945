from __future__ import annotations

import asyncio

import anyio
import pytest

from arena.errors import StrategyError
from arena.llm.metering import GIVEN_UP
from arena.protocols import Message, ModelRequest, Reply, Tools
from arena.runner import run_one
from arena.runner.question import to_its_end
from arena.types import Attempt, RunRecord, Task
from tests.unit.contestants import FINE, QUESTIONS, AskOnce, EchoModel, contestant
from tests.virtual_time import in_virtual_time


async def given_up(ended: list[str], grace_seconds: float, *, stubborn: bool) -> None:
    async def work() -> None:
        while True:
            try:
                await anyio.sleep(0.3)
                break
            except asyncio.CancelledError:
                ended.append("cancelled")
                if not stubborn:
                    raise

    with anyio.move_on_after(0.01):
        await to_its_end(work(), grace_seconds)


def test_what_is_given_up_has_ended_when_its_caller_goes_on_and_is_cancelled_once() -> None:
    ended: list[str] = []
    in_virtual_time(lambda: given_up(ended, 60.0, stubborn=False))
    assert ended == ["cancelled"]


def test_what_takes_no_notice_is_left_behind() -> None:
    async def main() -> float:
        started = anyio.current_time()
        await given_up([], 0.05, stubborn=True)
        return anyio.current_time() - started

    assert in_virtual_time(main) == pytest.approx(0.01 + 0.05)


def test_an_error_and_a_result_come_through() -> None:
    async def fine() -> int:
        return 7

    async def broken() -> int:
        raise KeyError("x")

    assert anyio.run(lambda: to_its_end(fine())) == 7
    with pytest.raises(KeyError):
        anyio.run(lambda: to_its_end(broken()))


def test_work_that_cancels_itself_has_failed_and_cancels_nobody_else() -> None:
    async def main() -> None:
        raise asyncio.CancelledError

    with pytest.raises(StrategyError, match="cancelled from within"):
        anyio.run(lambda: to_its_end(main()))


class Ask(AskOnce):
    """Asks in two tasks of asyncio, and cancels and awaits them when it is cancelled, as LangGraph does."""

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        writer = tools.writer
        assert writer is not None
        asked = [
            asyncio.create_task(writer.write([Message("user", task.question)], role=role)) for role in ("fast", "slow")
        ]
        try:
            await asyncio.wait(asked)
        finally:
            for one in asked:
                one.cancel()
            await asyncio.wait(asked)
        return Attempt(FINE)


class SlowEcho(EchoModel):
    """Never answers what is asked in the role `slow`."""

    async def fits(self, request: ModelRequest) -> bool:
        return True

    async def complete(self, request: ModelRequest) -> Reply:
        if request.role == "slow":
            await anyio.sleep_forever()
        return await super().complete(request)


def test_a_question_that_takes_too_long_leaves_nothing_running_and_every_call_in_its_ledger() -> None:
    async def main() -> tuple[RunRecord, int]:
        record = await run_one(contestant("a", Ask(), SlowEcho()), QUESTIONS[0], timeout_seconds=0.05)
        return record, len(asyncio.all_tasks())

    record, running = in_virtual_time(main)
    assert running == 1
    assert [(call.role, call.error, call.output_tokens) for call in record.calls] == [
        ("fast", None, 2),
        ("slow", GIVEN_UP, None),
    ]
    assert record.failure is not None
    assert record.failure.message.endswith("0 retrievals and 1 model calls were finished by then, 1 calls given up")
