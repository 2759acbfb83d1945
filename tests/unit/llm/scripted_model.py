"""A `ChatModel` whose every reply a test decides, with a note of all requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from arena.protocols import ModelRequest, Reply, TokenChoice
from arena.types import CallAttempt, LLMCall

USAGE = CallAttempt(input_tokens=7, output_tokens=2)


def saying(text: str | None, *tokens: TokenChoice, attempt: CallAttempt = USAGE, **call: Any) -> Reply:
    """A reply to be scripted; role and repair come from the request. `call`: fields of its ledger entry."""
    entry = LLMCall("", "scripted:", "0", (attempt,), **call)
    return Reply(text, entry, tokens)


def failing(error: str) -> Reply:
    return saying(None, attempt=replace(USAGE, input_tokens=None, output_tokens=None, fault=error), error=error)


def token(text: str, share: float = 1.0, /, **others: float) -> TokenChoice:
    """A token of probability `share`, listed with `others` (text -> probability)."""
    return choice(text, {text: share, **others})


def choice(text: str, shares: Mapping[str, float]) -> TokenChoice:
    return TokenChoice(text, _log(shares[text]), {other: _log(share) for other, share in shares.items()})


def _log(share: float) -> float:
    return math.log(share) if share else -math.inf


@dataclass
class ScriptedModel:
    """Gives `replies` in order, and the last one ever after; or what `answer` makes of a request."""

    replies: list[Reply] = field(default_factory=lambda: [saying("fine")])
    answer: Callable[[ModelRequest], Reply] | None = None
    requests: list[ModelRequest] = field(default_factory=list)
    name: str = "scripted:"

    async def fits(self, request: ModelRequest) -> bool:
        return True

    async def complete(self, request: ModelRequest) -> Reply:
        self.requests.append(request)
        if self.answer is not None:
            reply = self.answer(request)
        else:
            reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        return replace(reply, call=replace(reply.call, role=request.role, repair=request.repair))

    @property
    def said_last(self) -> str:
        """The last turn of the last request."""
        prompt = self.requests[-1].prompt
        return prompt if isinstance(prompt, str) else prompt[-1].content
