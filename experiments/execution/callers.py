"""How a system of the user's own is asked: as a function in this process, over HTTP, or as a program over its pipes.

`SystemGate` is in front of all three. It bounds the questions under way, times each request, tries again where none was
answered, and stops a run whose system is down. What was answered, if only with nonsense, is never asked again.
"""

from __future__ import annotations

import asyncio
import inspect
import random
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio

from arena.config import SystemConfig
from arena.errors import ConfigError, StrategyError, SystemCallError, UserError
from arena.identity import short_hash
from arena.llm.client import Breaker, pause_seconds
from arena.llm.metering import GIVEN_UP
from arena.network import redacted
from arena.types import CallAttempt, Task, well_formed
from experiments.execution.evidence import imported

AT_ONCE = 8
"""Questions that a server, or an asynchronous function, is asked at once where the settings do not say."""

_JOIN_SECONDS = 1.0

_ADVICE = "see whether the system is up and keeps pace (timeout_seconds, concurrency), then go on with --resume"


@dataclass(frozen=True, slots=True)
class SystemQuery:
    """All that a system gets to know of a question: what a strategy does, and a name for it.

    The dataset's own id stays here: some spell out the number of hops.
    """

    task: Task

    @property
    def query_id(self) -> str:
        """The same for the same question in every run, made of its text alone."""
        return f"q_{short_hash(self.task.question)}"

    @property
    def fields(self) -> dict[str, str]:
        return {"id": self.query_id, "question": self.task.question, "style": self.task.style}


class NoAnswer(Exception):  # noqa: N818  it says what came of a request, and is told as the error of the question
    """A request was not answered.

    `again`: another may be, after `wait_seconds`. `outage`: it speaks for the whole system and not for this question.
    `cost_nothing`: the system never worked on it.
    """

    def __init__(
        self, message: str, *, again: bool = False, outage: bool = True, cost_nothing: bool = False, wait: float = 0.0
    ) -> None:
        super().__init__(message)
        self.again = again
        self.outage = outage
        self.cost_nothing = cost_nothing
        self.wait_seconds = wait


class Caller(Protocol):
    """One way to ask. `at_once`: how many questions it takes at once where the settings do not say."""

    @property
    def at_once(self) -> int: ...

    async def ask(self, query: SystemQuery) -> Any:
        """What the system gives back. Raises `NoAnswer`; or the system's own exception, which is its answer."""


@dataclass(slots=True)
class SystemWork:
    """The requests that one question took. `started_seconds`: on the question's clock."""

    started_seconds: float
    attempts: list[CallAttempt] = field(default_factory=list)
    backoff_seconds: float = 0.0


class SystemGate:
    """Asks one system, at most so many questions at once.

    `who` names the system in messages. Raises as `ask`.
    """

    def __init__(
        self,
        caller: Caller,
        settings: SystemConfig,
        who: str,
        *,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._caller = caller
        self._settings = settings
        self._who = who
        self._sleep = sleep
        self._clock = clock
        self._rng = random.Random(0)  # spreads requests out in time and touches no result
        self._slots = anyio.CapacityLimiter(settings.concurrency or caller.at_once)
        self._breaker = Breaker(settings.breaker_failures, who, _ADVICE)

    async def ask(self, query: SystemQuery, work: SystemWork) -> Any:
        """What the system gives back. `work` is told of every request, whatever comes of it.

        Raises:
            SystemCallError: no request was answered.
            ProviderDownError: that happened to so many questions in a row that the system seems to be down.
            Exception: the system's own.
        """
        tries = 0
        while True:
            fault = await self._request(query, work, begun=tries > 0)
            if not isinstance(fault, NoAnswer):
                self._breaker.succeeded()
                return fault
            tries += 1
            pause = pause_seconds(tries, fault.wait_seconds, self._rng) if fault.again else None
            if pause is None or tries > self._settings.retries:
                message = f"{self._who} gave no answer: {fault}" + (f" ({tries} requests)" if tries > 1 else "")
                if fault.outage:
                    self._breaker.failed(message)
                raise SystemCallError(message)
            asleep = self._clock()
            await self._sleep(pause)
            work.backoff_seconds += self._clock() - asleep

    async def _request(self, query: SystemQuery, work: SystemWork, *, begun: bool) -> Any:
        """What was given back, or why nothing was. `begun`: an earlier request of this question was under way."""
        asked = self._clock()
        async with self._slots:
            if not begun:
                self._breaker.check()
            began = self._clock()
            fault: str | None = GIVEN_UP
            tokens: int | None = None
            limit = self._settings.timeout_seconds
            try:
                with anyio.move_on_after(limit) as scope:
                    given = await self._caller.ask(query)
                    fault = None
                    return given
                assert scope.cancelled_caught
                fault = f"no answer within {limit:g} s"
                return NoAnswer(fault)
            except NoAnswer as error:
                fault = str(error)
                tokens = 0 if error.cost_nothing else None
                return error
            except Exception as error:
                fault = type(error).__name__
                raise
            finally:
                service = self._clock() - began
                work.attempts.append(CallAttempt(tokens, tokens, None, None, began - asked, service, fault))


@dataclass(slots=True)
class FunctionCaller:
    """A function of the user's in this process: plain ones in threads, coroutines on an event loop of their own.

    So neither holds up the other contestants, whose latencies would show it, and neither can hang the run: what takes
    no notice of being given up is left behind in a daemon thread.
    """

    function: Callable[..., Any]
    takes_fields: bool
    is_async: bool
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None

    @property
    def at_once(self) -> int:
        return AT_ONCE if self.is_async else 1

    async def ask(self, query: SystemQuery) -> Any:
        given = self._now(query) if self.is_async else await asyncio.wrap_future(_in_thread(lambda: self._now(query)))
        if not inspect.isawaitable(given):
            return given
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_awaited(given), self._own_loop()))

    def _now(self, query: SystemQuery) -> Any:
        if self.takes_fields:
            return self.function(query.task.question, query.fields)
        return self.function(query.task.question)

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=(self._loop,), daemon=True, name="system")
            self._thread.start()
        return self._loop

    def close(self) -> None:
        """End the loop; a coroutine that holds it up is left behind with it."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(_JOIN_SECONDS)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _awaited(given: Awaitable[Any]) -> Any:
    try:
        return await given
    except (UserError, StopIteration, SystemExit, KeyboardInterrupt) as error:
        raise _of_the_system(error) from error


def _in_thread(work: Callable[[], Any]) -> Future[Any]:
    """The result of `work` in a daemon thread: one of a pool would be waited for when the process ends."""
    future: Future[Any] = Future()

    def run() -> None:
        future.set_running_or_notify_cancel()  # from now on a result finds a place, though nobody waits for it
        try:
            future.set_result(work())
        except (UserError, StopIteration) as error:
            future.set_exception(_of_the_system(error))
        except Exception as error:  # noqa: BLE001  it is anyone's code, and the error is handed on
            future.set_exception(error)
        except BaseException as error:  # noqa: BLE001  an exit() in there ends a question, not the run
            future.set_exception(_of_the_system(error))

    threading.Thread(target=run, daemon=True, name="system").start()
    return future


def _of_the_system(error: BaseException) -> StrategyError:
    """What would mean something else in our code than in the system's."""
    return StrategyError(f"it raised {type(error).__name__}: {redacted(well_formed(str(error)))}")


def load_function(name: str, path: str) -> FunctionCaller:
    """The function `package.module:name` of system `name`; the module is imported now.

    Raises:
        ConfigError: it cannot be imported or called, or wants other arguments than the question (and a mapping).
    """
    setting = f"systems.{name}.python"
    function = imported(path, setting)
    if not callable(function):
        raise ConfigError(f"{setting} {path!r} is a {type(function).__name__}, which cannot be called: name a function")
    needed = _needed_arguments(function)
    if needed not in (None, 1, 2):
        raise ConfigError(
            f"{setting} {path!r} needs {needed} arguments: it is given the question's text, and where it takes two a "
            "mapping with id, question and style"
        )
    called = getattr(function, "__call__", None)  # noqa: B004  of an object, the method that is awaited
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)
    return FunctionCaller(function, needed == 2, is_async)


def _needed_arguments(function: Callable[..., Any]) -> int | None:
    """How many it cannot be called without, at least one where it takes any; None where it does not tell."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    placed = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    listed = any(one.kind == one.VAR_POSITIONAL for one in parameters)
    named = [one for one in parameters if one.kind == one.KEYWORD_ONLY and one.default is one.empty]
    needed = sum(one.default is one.empty for one in placed) + 2 * len(named)
    return max(needed, 1) if placed or listed else 0


@asynccontextmanager
async def open_caller(name: str, settings: SystemConfig) -> AsyncIterator[Caller]:
    """The way in which a system is asked, closed at the end. Raises `ConfigError` where there is none."""
    caller = load_function(name, settings.target)
    try:
        yield caller
    finally:
        caller.close()
