"""The metered gate: the only caller of a language model.

Every attempt is ours (the provider packages' own retries are off), so that attempts, queueing and service time are
counted where they happen. Three mechanisms guard what is paid: a breaker stops a run whose provider is down, `InFlight`
tells which calls would be paid for nothing if they were given up, and of equal calls at one time only one is made while
the others wait for its reply.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace

import anyio

from arena.config import LLMSettings
from arena.errors import BudgetError, ModelSetupError, ProviderDownError, RunStoreError, UserError
from arena.llm.cache import CachedReply, ReplyCache, cache_key
from arena.llm.faults import Fault, causes, read_fault
from arena.llm.limits import SURELY, Budget, RateLimits, estimated_tokens
from arena.llm.metering import GIVEN_UP, Exchange, Metering
from arena.llm.parameters import Capabilities, Parameters, parameters_of, read_unsupported
from arena.llm.wire import (
    ConfiguredChats,
    ModelAccess,
    Response,
    Window,
    as_spoken,
    beside_messages,
    bounded,
    completion_body,
    laid_out,
    read_completion,
    read_message,
)
from arena.protocols import ModelRequest, Reply
from arena.types import CallAttempt, PaidAttempt, Purpose, well_formed

_KEEP_LIMITS = (
    "see whether the server is up and its limits are kept (concurrency, requests_per_minute, tokens_per_minute)"
)


class Breaker:
    """Opens after `most` failed calls with no reply in between, and then stays open.

    What counts is a call that failed after all its attempts with a fault that might have passed. Other failed calls,
    say of a prompt that is too long, neither count nor clear it.
    """

    def __init__(self, most: int, who: str, advice: str = _KEEP_LIMITS) -> None:
        """`who` fails, by name and place, and what to do about it, for the message."""
        self._most = most
        self._who = who
        self._advice = advice
        self._failures = 0
        self._last = ""

    def check(self) -> None:
        """Raise `ProviderDownError` if it is open."""
        if self._failures >= self._most:
            calls = f"{self._most} calls in a row, each" if self._most > 1 else "a call"
            raise ProviderDownError(
                f"{self._who} failed {calls} after all its attempts, the last with: {self._last}; {self._advice}"
            )

    def succeeded(self) -> None:
        """A reply came."""
        if self._failures < self._most:
            self._failures = 0

    def failed(self, message: str) -> None:
        """A call has failed for good with `message`. Raises `ProviderDownError` if that opens it, or it is open."""
        if self._failures < self._most:
            self._failures += 1
            self._last = message
        self.check()


class InFlight:
    """Counts what has begun and has not ended."""

    def __init__(self) -> None:
        self._number = 0
        self._none = anyio.Event()

    @contextmanager
    def one(self) -> Iterator[None]:
        """One more is under way."""
        self._number += 1
        try:
            yield
        finally:
            self._number -= 1
            if not self._number:
                # An event cannot be cleared: those who wait have this one, those who come later get a new one.
                self._none.set()
                self._none = anyio.Event()

    async def none(self) -> None:
        """Wait until nothing is under way."""
        while self._number:
            await self._none.wait()


@dataclass(slots=True)
class _Place:
    lock: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))
    claims: int = 0


class KeyedLock:
    """A lock for each key, kept only while somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}

    def __len__(self) -> int:
        return len(self._places)

    @asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        """Nobody else is inside with the same key."""
        place = self._places.setdefault(key, _Place())
        place.claims += 1
        try:
            async with place.lock:
                yield
        finally:
            place.claims -= 1
            if not place.claims:
                del self._places[key]


FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 30.0
LONGEST_RETRY_AFTER_SECONDS = 300.0


def pause_seconds(tries: int, asked_for: float, rng: random.Random) -> float | None:
    """Seconds to wait after so many tries, of whom the last asked to wait; None = for longer than anyone waits."""
    backoff = min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2.0 ** (tries - 1)) * rng.uniform(0.5, 1.0)
    return None if asked_for > LONGEST_RETRY_AFTER_SECONDS else max(backoff, asked_for)


class LLMClient:
    """A `ChatModel` over one LangChain model.

    At most `settings.concurrency` attempts are in flight. Faults that may pass (429, 5xx, a broken connection, a
    timeout, a garbled or an empty reply) are met by up to `settings.max_attempts` attempts; between them the slot is
    given back for an exponential back-off with jitter, or for as long as the provider's Retry-After asks. A parameter
    that the model refuses is left out of this and every later request, which costs no attempt.

    `complete` raises `ModelSetupError` for what would fail every other call too (a refused key, an exhausted quota, a
    model or path the server does not know), `ProviderDownError` when the breaker is open, `BudgetError` when the budget
    is spent. From then on no request is sent (but for calls that a spent budget finds begun), and the error is raised
    when none is under way any more: it ends the run, and what is given up then would be paid and lost.
    """

    def __init__(
        self,
        access: ModelAccess,
        settings: LLMSettings,
        *,
        name: str,
        identity: Mapping[str, object],
        cache: ReplyCache | None = None,
        budget: Budget | None = None,
        purpose: Purpose = "question",
        rng: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`identity` is who replies, for the keys of `cache` (None = nothing is kept).

        `budget` is told of every attempt, as one for `purpose`; None = unbounded, and nobody is told.
        """
        self._access = access
        self._settings = settings
        self._name = name
        self._identity = identity
        self._cache = cache
        self._budget = budget
        self._purpose = purpose
        self._rng = rng or random.Random(settings.seed)
        self._sleep = sleep
        self._clock = clock
        self._slots = anyio.CapacityLimiter(settings.concurrency or access.default_concurrency)
        self._limits = RateLimits(settings.requests_per_minute, settings.tokens_per_minute)
        where = f" at {access.endpoint}" if access.endpoint else ""
        self._described = f"{name!r}{where}"
        self._breaker = Breaker(settings.breaker_failures, f"model {self._described}")
        self._capabilities = Capabilities(access.dropped, has_other_limit=access.dialect.other_limit is not None)
        self._equal_calls = KeyedLock()
        self._requests_under_way = InFlight()
        self._calls_under_way = InFlight()
        self._stopped_by: UserError | None = None
        self._window = bounded(access.window, settings.context_tokens)
        self._chats = ConfiguredChats(access.chat, access.dialect)
        self._dropped: set[str] = set()

    @property
    def name(self) -> str:
        return self._name

    @property
    def window(self) -> Window | None:
        """How much the model reads and writes in one call; None = not known."""
        return self._window

    @property
    def dropped(self) -> tuple[str, ...]:
        """The parameters that were left out of calls because the model refuses them, replayed calls included."""
        return tuple(sorted(self._dropped))

    async def fits(self, request: ModelRequest) -> bool:
        window = self._window
        if window is None or isinstance(request.prompt, str):
            return True
        left = window.tokens - (request.limit or max(self._settings.max_tokens, request.room or 0))
        estimate = estimated_tokens(request.prompt)
        # To count takes a request to the server or a pass over the text: not for what fits however it is counted.
        surely = SURELY * estimate <= left
        counted = None if surely or window.count is None else await window.count(request.prompt)
        return (estimate if counted is None else counted) <= left

    async def complete(self, request: ModelRequest) -> Reply:
        try:
            reply = await self._kept_or_asked(request)
        except UserError as error:
            self._stopped_by = self._stopped_by or error
            spent = isinstance(error, BudgetError)
            await (self._calls_under_way if spent else self._requests_under_way).none()
            if spent and self._budget is not None:
                self._budget.check()  # raises the same, and counts what has ended since
            raise
        # Kept replies are as they came, so that other marks ask nothing anew.
        return reply if isinstance(request.prompt, str) else as_spoken(reply, self._settings.reasoning_marks)

    async def _kept_or_asked(self, request: ModelRequest) -> Reply:
        asked = self._asked_for(request)
        if self._cache is None:
            return await self._ask(request, asked)
        # Of what is asked for, not of what is sent: a new client does not know yet what the model refuses.
        key = cache_key(self._identity, asked.as_mapping(), request)
        # Of equal calls at one time the first pays, and the others find its reply.
        async with self._equal_calls.alone(key):
            kept = self._cache.get(key)
            if kept is not None:
                return self._replayed(request, kept)
            reply = await self._ask(request, asked)
            if reply.text is not None:
                call = reply.call
                cached = CachedReply(reply.text, reply.tokens, call.attempts, call.finish_reason, call.dropped)
                self._cache.put(key, cached)
            return reply

    def _asked_for(self, request: ModelRequest) -> Parameters:
        if isinstance(request.prompt, str) and self._access.completions is None:
            raise ModelSetupError(
                f"model {self._described} cannot continue a text, it only takes conversations: use a model on an "
                "OpenAI-compatible server (base_url, with /completions) or a local: one"
            )
        dialect = self._access.dialect
        return parameters_of(
            self._settings, request, takes_schema=dialect.schema is not None, takes_logprobs=dialect.logprobs
        )

    def _replayed(self, request: ModelRequest, kept: CachedReply) -> Reply:
        self._dropped.update(kept.dropped)
        paid = [replace(attempt, queue_seconds=0.0, service_seconds=0.0) for attempt in kept.attempts]
        metering = Metering(request, self._name, paid, dropped=kept.dropped)
        return Reply(kept.text, metering.call(finish_reason=kept.finish_reason, replayed=True), kept.tokens)

    async def _ask(self, request: ModelRequest, asked: Parameters) -> Reply:
        """Pay for a reply."""
        with self._calls_under_way.one():
            return await self._attempts(asked, Metering(request, self._name))

    async def _attempts(self, asked: Parameters, metering: Metering) -> Reply:
        tries = 0
        while True:
            sent = self._capabilities.fit(asked)
            exchange = await self._attempt(metering, sent)
            metering.dropped = self._capabilities.left_out(asked)
            self._dropped.update(metering.dropped)
            fault, response = exchange.fault, exchange.result
            if fault is None:
                assert isinstance(response, Response)
                self._breaker.succeeded()
                return Reply(response.text, metering.call(finish_reason=response.finish_reason), response.tokens)
            if fault.kind == "unsupported":
                continue
            tries += 1
            wait_seconds = self._wait_before_retry(fault, tries)
            if wait_seconds is None:
                if fault.kind == "passing" and isinstance(response, Fault):
                    self._breaker.failed(fault.message)
                return Reply(None, metering.call(error=fault.message))
            asleep = self._clock()
            await self._sleep(wait_seconds)
            metering.backoff_seconds += self._clock() - asleep

    async def _attempt(self, metering: Metering, sent: Parameters) -> Exchange:
        request = metering.request
        may_be_empty = bool(request.stop) or isinstance(request.prompt, str)
        estimate = estimated_tokens(request.prompt) + (sent.max_tokens or 0)
        asked = self._clock()
        async with self._slots:
            await self._limits.reserve(estimate)
            # After the wait, in which others may have spent the rest.
            self._check_going_on(begun=bool(metering.attempts))
            began = self._clock()
            result: Response | Fault
            try:
                with self._requests_under_way.one(), anyio.fail_after(self._settings.timeout_seconds):
                    result = (await self._send(request, sent)).ending_before(request.stop)
            # Providers' packages share no base exception, and whatever they raise must not cost the ledger its entry.
            except Exception as error:  # noqa: BLE001
                result = self._read(error, sent)
            except anyio.get_cancelled_exc_class():
                times = (began - asked, self._clock() - began, GIVEN_UP)
                with suppress(RunStoreError):  # nothing may hide that this was given up
                    self._pay(metering, sent, CallAttempt(None, None, None, None, *times))
                raise
            exchange = Exchange(result, began - asked, self._clock() - began, may_be_empty)
            # Nothing is awaited between the reply and its entry, so that no stop comes between.
            self._pay(metering, sent, exchange.attempt)
        self._limits.settle(estimate, exchange.used_tokens)
        return exchange

    def _pay(self, metering: Metering, sent: Parameters, attempt: CallAttempt) -> None:
        """Note the attempt, with the budget first: what it took is written down before its reply is used."""
        if self._budget is not None:
            unread, unwritten = attempt.input_tokens is None, attempt.output_tokens is None
            paid = PaidAttempt(
                self._purpose,
                self._name,
                metering.request.role,
                metering.prompt_sha,
                len(metering.attempts) + 1,
                attempt,
                self._settings.base_url,
                estimated_tokens(metering.request.prompt) if unread else 0,
                (sent.max_tokens or 0) if unwritten else 0,
            )
            self._budget.pay(paid)
        metering.attempts.append(attempt)

    def _check_going_on(self, *, begun: bool) -> None:
        """Raise what stops the run, if anything does; a spent budget stops no call that has begun."""
        if self._stopped_by is not None and not (begun and isinstance(self._stopped_by, BudgetError)):
            raise self._stopped_by
        self._breaker.check()
        if self._budget is not None and not begun:
            self._budget.check()

    async def _send(self, request: ModelRequest, sent: Parameters) -> Response:
        if isinstance(request.prompt, str):
            assert self._access.completions is not None
            return read_completion(await self._access.completions(request.prompt, completion_body(sent)))
        chat = self._chats.under(sent)
        beside = beside_messages(self._access.dialect, sent, request.json_schema)
        return read_message(await chat.ainvoke(laid_out(request.prompt, sent), **beside))

    def _read(self, error: Exception, sent: Parameters) -> Fault:
        fault = read_fault(error, self._access.secrets)
        if fault.status in (400, 422, 500) or (fault.kind == "lasting" and fault.status is None):
            refused = fault.status is not None
            found = read_unsupported(causes(error), sent, refused_by_server=refused, status=fault.status)
            if found is not None and self._capabilities.learn(found, sent):
                fault = replace(fault, kind="unsupported", cost_nothing=True)
        if isinstance(error, TimeoutError) and not str(error):
            return replace(fault, message=f"no reply within {self._settings.timeout_seconds:g} s")
        return replace(fault, message=well_formed(fault.message))

    def _wait_before_retry(self, fault: Fault, tries: int) -> float | None:
        """Seconds to wait for the next attempt; None = there is none."""
        if fault.kind == "setup":
            raise ModelSetupError(self._setup_message(fault))
        if fault.kind == "lasting" or tries >= self._settings.max_attempts:
            return None
        # Not tenacity: it draws its jitter from the global random state.
        return pause_seconds(tries, fault.retry_after_seconds or 0.0, self._rng)

    def _setup_message(self, fault: Fault) -> str:
        if fault.status == 404:
            advice = "check the model's name and base_url (most servers want it to end in /v1)"
        elif fault.status in (401, 403):
            variable = self._access.key_variable
            advice = f"check the key in ${variable}" if variable else "name the key's variable in llm.api_key_variable"
        else:
            advice = "check the account's quota and billing"
        return f"model {self._described} refuses every call: {fault.message}; {advice}"
