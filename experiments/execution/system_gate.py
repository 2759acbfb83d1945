"""How a system of the user's own is asked, whatever the way: so many questions at once, each timed and counted.

What was answered, if only with nonsense, is never asked again. A request is tried again only where none was answered; a
system that answers nothing for a while stops the run, which goes on later.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio

from arena.config import SystemConfig
from arena.errors import SystemCallError
from arena.identity import short_hash
from arena.llm.client import Breaker, pause_seconds
from arena.llm.metering import GIVEN_UP
from arena.types import CallAttempt, Task

AT_ONCE = 8
"""Questions that a server, or an asynchronous function, is asked at once where the settings do not say."""

MOST_REPLY_BYTES = 10_000_000
"""Of one reply, unpacked; what is longer is no answer to a question."""

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
    """The requests that one question took. `started_seconds`: on the question's clock.

    `lookup_seconds` were spent on finding the documents that the system named.
    """

    started_seconds: float
    attempts: list[CallAttempt] = field(default_factory=list)
    backoff_seconds: float = 0.0
    lookup_seconds: float = 0.0


class SystemGate:
    """Asks one system, at most so many questions at once. `who` names it in messages."""

    def __init__(
        self,
        caller: Caller,
        settings: SystemConfig,
        who: str,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._caller = caller
        self._settings = settings
        self._who = who
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
            given = await self._request(query, work, begun=tries > 0)
            if not isinstance(given, NoAnswer):
                return given
            tries += 1
            pause = pause_seconds(tries, given.wait_seconds, self._rng) if given.again else None
            if pause is None or tries > self._settings.retries:
                message = f"{self._who} gave no answer: {given}" + (f" ({tries} requests)" if tries > 1 else "")
                if given.outage:
                    self._breaker.failed(message)
                raise SystemCallError(message)
            asleep = self._clock()
            await anyio.sleep(pause)
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
                    self._breaker.succeeded()
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
                self._breaker.succeeded()  # it answered, if only with nonsense
                raise
            finally:
                service = self._clock() - began
                work.attempts.append(CallAttempt(tokens, tokens, None, None, began - asked, service, fault))
