"""The metered gate: the only caller of a language model.

Every attempt is ours (the provider packages' own retries are off), so that attempts, queueing and service
time are counted where they happen.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import anyio

from arena.config import LLMSettings
from arena.errors import ModelSetupError
from arena.llm.access import ModelAccess
from arena.llm.faults import Fault, read_fault
from arena.llm.response import read_finish_reason, read_text, read_usage
from arena.protocols import Message, Reply
from arena.types import LLMCall, well_formed

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 30.0
LONGEST_RETRY_AFTER_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class _Outcome:
    """One attempt: the provider's message or the fault, and where its seconds went."""

    result: AIMessage | Fault
    queue_seconds: float
    service_seconds: float


class LLMClient:
    """A `ChatModel` over one LangChain model.

    At most `settings.concurrency` attempts are in flight. Faults that may pass (429, 5xx, a broken connection, a
    timeout, a garbled reply) are met by up to `settings.max_attempts` attempts; between them the slot is given
    back for an exponential back-off with jitter, or for as long as the provider's Retry-After asks.

    `complete` raises `ModelSetupError` for what would fail every other call too: a refused key, an
    exhausted quota, a model or path the server does not know.
    """

    def __init__(
        self,
        access: ModelAccess,
        settings: LLMSettings,
        *,
        name: str,
        rng: random.Random | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._access = access
        self._settings = settings
        self._name = name
        self._rng = rng or random.Random(settings.seed)
        self._sleep = sleep
        self._clock = clock
        self._slots = anyio.CapacityLimiter(settings.concurrency or access.default_concurrency)
        self._by_limit: dict[int, BaseChatModel] = {}

    @property
    def name(self) -> str:
        return self._name

    async def complete(self, messages: Sequence[Message], *, role: str, max_tokens: int | None = None) -> Reply:
        chat = self._bounded(max_tokens)
        turns: list[tuple[str, str]] = [(message.role, message.content) for message in messages]
        call = LLMCall(role, self._name, prompt_sha(messages), input_tokens=None, output_tokens=None, attempts=0)
        while True:
            outcome = await self._attempt(chat, turns)
            call = replace(
                call,
                attempts=call.attempts + 1,
                queue_seconds=call.queue_seconds + outcome.queue_seconds,
                service_seconds=call.service_seconds + outcome.service_seconds,
            )
            if not isinstance(outcome.result, Fault):
                return _answered(call, outcome.result)
            wait_seconds = self._wait_before_retry(outcome.result, call.attempts)
            if wait_seconds is None:
                return Reply(None, replace(call, error=outcome.result.message))
            asleep = self._clock()
            await self._sleep(wait_seconds)
            call = replace(call, backoff_seconds=call.backoff_seconds + self._clock() - asleep)

    async def _attempt(self, chat: BaseChatModel, turns: list[tuple[str, str]]) -> _Outcome:
        asked = self._clock()
        async with self._slots:
            sent = self._clock()
            result: AIMessage | Fault
            try:
                with anyio.fail_after(self._settings.timeout_seconds):
                    result = await chat.ainvoke(turns)
            # Providers' packages share no base exception, and whatever they raise must not cost the ledger its entry.
            except Exception as error:  # noqa: BLE001
                result = self._read(error)
            return _Outcome(result, sent - asked, self._clock() - sent)

    def _read(self, error: Exception) -> Fault:
        fault = read_fault(error, self._access.secrets)
        if isinstance(error, TimeoutError) and not str(error):
            return replace(fault, message=f"no reply within {self._settings.timeout_seconds:g} s")
        return replace(fault, message=well_formed(fault.message))

    def _wait_before_retry(self, fault: Fault, attempts: int) -> float | None:
        """Seconds to wait for the next attempt; None = there is none."""
        if fault.kind == "setup":
            raise ModelSetupError(self._setup_message(fault))
        if fault.kind == "lasting" or attempts >= self._settings.max_attempts:
            return None
        backoff = min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2.0 ** (attempts - 1))
        backoff *= self._rng.uniform(0.5, 1.0)
        asked_for = fault.retry_after_seconds or 0.0
        return None if asked_for > LONGEST_RETRY_AFTER_SECONDS else max(backoff, asked_for)

    def _setup_message(self, fault: Fault) -> str:
        where = f" at {self._access.endpoint}" if self._access.endpoint else ""
        if fault.status == 404:
            advice = "check the model's name and base_url (most servers want it to end in /v1)"
        elif fault.status in (401, 403):
            variable = self._access.key_variable
            advice = f"check the key in ${variable}" if variable else "name the key's variable in llm.api_key_variable"
        else:
            advice = "check the account's quota and billing"
        return f"model {self._name!r}{where} refuses every call: {fault.message}; {advice}"

    def _bounded(self, max_tokens: int | None) -> BaseChatModel:
        if max_tokens is None or max_tokens <= self._settings.max_tokens:
            return self._access.chat
        if max_tokens not in self._by_limit:
            self._by_limit[max_tokens] = self._access.chat.model_copy(update={self._access.limit_field: max_tokens})
        return self._by_limit[max_tokens]


def prompt_sha(messages: Sequence[Message]) -> str:
    """16 hex digits of the SHA-256 of the messages as canonical JSON: roles, contents and their order."""
    canonical = json.dumps([[message.role, message.content] for message in messages], separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def _answered(call: LLMCall, message: AIMessage) -> Reply:
    usage = read_usage(message)
    return Reply(
        read_text(message),
        replace(
            call,
            input_tokens=usage.input,
            output_tokens=usage.output,
            cached_input_tokens=usage.cached,
            reasoning_tokens=usage.reasoning,
            finish_reason=read_finish_reason(message),
        ),
    )
