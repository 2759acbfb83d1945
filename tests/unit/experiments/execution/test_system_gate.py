from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from arena.config import SystemConfig
from arena.errors import ProviderDownError, StrategyError, SystemCallError
from arena.llm.metering import GIVEN_UP
from arena.types import Task
from experiments.execution.system_gate import NoAnswer, SystemGate, SystemQuery, SystemWork
from tests.virtual_time import in_virtual_time

REFUSED = NoAnswer("HTTP 503", again=True)
FREE = NoAnswer("HTTP 429", again=True, cost_nothing=True, wait=7.0)


@dataclass
class Scripted:
    """Does what its script says, one entry a request, each after a second; the last again and again."""

    script: list[Any]
    at_once: int = 2
    seconds: float = 1.0
    asked: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    queries: list[SystemQuery] = field(default_factory=list)

    async def ask(self, query: SystemQuery) -> Any:
        self.queries.append(query)
        does = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await anyio.sleep(self.seconds)
        finally:
            self.in_flight -= 1
        if isinstance(does, Exception):
            raise does
        return does


def gated(caller: Scripted, use: Callable[[SystemGate], Awaitable[None]], **settings: Any) -> None:
    """`use` a gate before `caller`, without waiting."""

    async def main() -> None:
        clock = asyncio.get_running_loop().time
        config = SystemConfig(**{"http": "http://localhost/ask", **settings})
        await use(SystemGate(caller, config, "system 'mine'", clock=clock))

    in_virtual_time(main)


def asked(caller: Scripted, error: type[Exception] | None = None, **settings: Any) -> SystemWork:
    """What one question took."""
    work = SystemWork(0.0)

    async def use(gate: SystemGate) -> None:
        if error is None:
            assert await gate.ask(SystemQuery(Task("Who?")), work) == "yes"
            return
        with pytest.raises(error):
            await gate.ask(SystemQuery(Task("Who?")), work)

    gated(caller, use, **settings)
    return work


def test_what_is_refused_is_asked_again_and_every_request_is_noted() -> None:
    caller = Scripted([REFUSED, FREE, "yes"])
    work = asked(caller)
    assert [one.fault for one in work.attempts] == ["HTTP 503", "HTTP 429", None]
    assert [one.input_tokens for one in work.attempts] == [None, 0, None]  # only what was never worked on cost nothing
    assert [one.service_seconds for one in work.attempts] == pytest.approx([1.0, 1.0, 1.0])
    assert work.backoff_seconds == pytest.approx(7.25 + 0.125, abs=0.13)  # half a second or less, and what was asked


@pytest.mark.parametrize(
    ("script", "error", "requests"),
    [
        ([REFUSED], SystemCallError, 3),
        ([NoAnswer("it ended")], SystemCallError, 1),
        ([NoAnswer("HTTP 429", again=True, wait=301.0)], SystemCallError, 1),
        ([StrategyError("no JSON")], StrategyError, 1),
        ([KeyError("theirs")], KeyError, 1),
    ],
)
def test_what_answered_or_asks_for_too_long_a_pause_is_not_asked_again(
    script: list[Any], error: type[Exception], requests: int
) -> None:
    caller = Scripted(script)
    work = asked(caller, error)
    assert caller.asked == len(work.attempts) == requests
    assert all(one.fault for one in work.attempts)


def test_what_takes_too_long_is_given_up_and_not_asked_again() -> None:
    caller = Scripted(["yes"], seconds=60.0)
    work = asked(caller, SystemCallError, timeout_seconds=5.0)
    (attempt,) = work.attempts
    assert attempt.fault == "no answer within 5 s"
    assert attempt.service_seconds == pytest.approx(5.0)
    assert (caller.asked, caller.in_flight) == (1, 0)


def test_a_question_that_is_given_up_leaves_its_request() -> None:
    work = SystemWork(0.0)

    async def use(gate: SystemGate) -> None:
        with anyio.move_on_after(2.0):
            await gate.ask(SystemQuery(Task("Who?")), work)

    gated(Scripted(["yes"], seconds=60.0), use)
    assert [one.fault for one in work.attempts] == [GIVEN_UP]


@pytest.mark.parametrize(("setting", "most"), [({}, 2), ({"concurrency": 3}, 3)])
def test_no_more_questions_are_under_way_than_the_settings_say(setting: dict[str, int], most: int) -> None:
    caller = Scripted(["yes"])
    works = [SystemWork(0.0) for _ in range(6)]

    async def use(gate: SystemGate) -> None:
        async with anyio.create_task_group() as group:
            for work in works:
                group.start_soon(gate.ask, SystemQuery(Task("Who?")), work)

    gated(caller, use, **setting)
    assert caller.most_in_flight == most
    waited = sorted(work.attempts[0].queue_seconds for work in works)
    assert waited == pytest.approx([float(place // most) for place in range(6)])


def test_a_system_that_is_down_is_left_alone_and_one_answer_shows_that_it_is_not() -> None:
    down = NoAnswer("no connection", again=False)
    refused = NoAnswer("HTTP 422", outage=False)
    nonsense = StrategyError("no JSON")
    caller = Scripted([down, "yes", down, nonsense, down, refused, down, "yes"])
    errors: list[type[BaseException] | None] = []

    async def use(gate: SystemGate) -> None:
        for _ in range(8):
            try:
                await gate.ask(SystemQuery(Task("Who?")), SystemWork(0.0))
                errors.append(None)
            except (SystemCallError, StrategyError, ProviderDownError) as error:
                errors.append(type(error))

    gated(caller, use, breaker_failures=2)
    one_by_one = [SystemCallError, None, SystemCallError, StrategyError, SystemCallError, SystemCallError]
    assert errors == [*one_by_one, ProviderDownError, ProviderDownError]
    assert caller.asked == 7


def test_a_system_is_told_the_question_and_a_name_for_it_made_of_the_question() -> None:
    caller = Scripted(["yes"])
    asked(caller)
    (query,) = caller.queries
    assert query.fields == {"id": query.query_id, "question": "Who?", "style": "short"}
    assert query.query_id == SystemQuery(Task("Who?")).query_id != SystemQuery(Task("Whose?")).query_id
