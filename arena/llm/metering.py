"""The ledger entry of a call while the call is being made: one line for every request it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from arena.identity import canonical_json, short_hash
from arena.llm.faults import Fault
from arena.llm.wire import Response
from arena.protocols import Message, ModelRequest
from arena.types import CallAttempt, LLMCall, sum_known

EMPTY_REPLY = "an empty reply"
GIVEN_UP = "given up before the reply came"
WITHHELD_REPLY = "the provider withheld the reply"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it: the response or the fault, and where its seconds went.

    `may_be_empty`: a response without text can be what the prompt asks for (nothing to go on with, a stop at once).
    """

    result: Response | Fault
    queue_seconds: float
    service_seconds: float
    may_be_empty: bool = False

    @property
    def fault(self) -> Fault | None:
        """Why there is no reply; a response without any text is a fault as well. None = there is a reply."""
        if isinstance(self.result, Fault):
            return self.result
        ended = f" (it ended with {self.result.finish_reason!r})"
        if self.result.is_withheld:
            return Fault("lasting", WITHHELD_REPLY + ended)
        if self.result.is_empty and not self.may_be_empty:
            return Fault("passing", EMPTY_REPLY + ended)
        return None

    @property
    def used_tokens(self) -> int | None:
        """Input and output; None = unknown."""
        attempt = self.attempt
        return sum_known((attempt.input_tokens, attempt.output_tokens))

    @property
    def attempt(self) -> CallAttempt:
        fault = self.fault
        times = (self.queue_seconds, self.service_seconds, None if fault is None else fault.message)
        usage = self.result.usage
        if usage is None:
            tokens = 0 if isinstance(self.result, Fault) and self.result.cost_nothing else None
            return CallAttempt(tokens, tokens, None, None, *times)
        return CallAttempt(usage.input, usage.output, usage.cached, usage.reasoning, *times)


@dataclass(slots=True)
class Metering:
    """What is known so far of the call that answers `request`."""

    request: ModelRequest
    model: str
    attempts: list[CallAttempt] = field(default_factory=list)
    backoff_seconds: float = 0.0
    dropped: tuple[str, ...] = ()
    prompt_sha: str = field(init=False)

    def __post_init__(self) -> None:
        self.prompt_sha = prompt_sha(self.request.prompt)

    def call(self, *, finish_reason: str | None = None, error: str | None = None, replayed: bool = False) -> LLMCall:
        """The entry as it stands."""
        return LLMCall(
            role=self.request.role,
            model=self.model,
            prompt_sha=self.prompt_sha,
            attempts=tuple(self.attempts),
            backoff_seconds=self.backoff_seconds,
            replayed=replayed,
            repair=self.request.repair,
            bounded=self.request.limit is not None,
            dropped=self.dropped,
            finish_reason=finish_reason,
            error=error,
        )


def prompt_sha(prompt: str | Sequence[Message]) -> str:
    """16 hex digits of the SHA-256 of the prompt as canonical JSON: roles, contents and their order, or the text."""
    plain = prompt if isinstance(prompt, str) else [[message.role, message.content] for message in prompt]
    return short_hash(canonical_json(plain, ascii_only=True, compact=True, in_order=True))
