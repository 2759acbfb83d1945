"""One question's account of everything it asked a language model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import anyio
from pydantic import BaseModel

from arena.errors import AllowanceSpent, ModelCallError, PromptTooLongError, UnreadableReplyError
from arena.llm import labels as judging
from arena.llm import structured
from arena.llm.limits import FINAL_CALLS, FINAL_ROLE, UNBOUNDED, Allowance
from arena.llm.metering import GIVEN_UP, Metering
from arena.protocols import ChatModel, Continuation, Judgement, Message, ModelRequest, Reply
from arena.types import CallAttempt, LLMCall, cut_before_speaking, well_formed, without_reasoning

S = TypeVar("S", bound=BaseModel)

# What servers of reasoning models say when a reply's bound leaves no room for anything but reasoning.
_BOUND_REFUSED = re.compile(r"max[_ ](?:completion[_ ]|output[_ ])?tokens|output limit", re.IGNORECASE)


_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|maximum (?:context|prompt|input)|(?:prompt|input) is too long|"
    r"(?:prompt|input) (?:tokens )?exceeds?|too many (?:input )?tokens|reduce the length of the",
    re.IGNORECASE,
)
"""What servers say of a prompt that is longer than the model's window."""


class Ledger:
    """A `Writer` for one question: asks `model` and keeps every entry, the failed ones included.

    `clock` gives the seconds since the question's start. A call that was cancelled, sent or still waiting for its turn,
    has an entry of one attempt of unknown tokens: the provider may bill what nobody waited for. When `allowance` is
    used up, only the final answer is still granted a few calls.
    """

    def __init__(self, model: ChatModel, clock: Callable[[], float], allowance: Allowance = UNBOUNDED) -> None:
        self._model = model
        self._clock = clock
        self._allowance = allowance
        self._entries: list[LLMCall | None] = []
        self._final_calls = 0
        # Learnt anew for each question, so that no record depends on which question came first.
        self._reasons = False

    @property
    def calls(self) -> tuple[LLMCall, ...]:
        """The calls that have ended, given up or not, in the order in which they were asked."""
        return tuple(entry for entry in self._entries if entry is not None)

    async def fits(self, messages: Sequence[Message], *, room: int | None = None) -> bool:
        return await self._model.fits(ModelRequest(tuple(messages), "", room=room))

    async def write(self, messages: Sequence[Message], *, role: str, room: int | None = None) -> str:
        return _text(await self._enter(ModelRequest(tuple(messages), role, room=room)))

    async def draft(
        self,
        messages: Sequence[Message],
        *,
        role: str,
        limit: int | None = None,
        stop: tuple[str, ...] = (),
        logprobs: bool = False,
    ) -> Continuation:
        alternatives = 1 if logprobs else 0
        return _continuation(
            await self._enter(ModelRequest(tuple(messages), role, limit=limit, stop=stop, alternatives=alternatives))
        )

    async def classify(self, messages: Sequence[Message], labels: Sequence[str], *, role: str) -> Judgement:
        """Raises ValueError for labels that cannot be told apart; see `check_labels`."""
        judging.check_labels(labels)
        request = ModelRequest(tuple(messages), role, limit=judging.label_limit(labels))
        reply = await self._judge(request)
        judgement = judging.read_judgement(reply, labels)
        if judgement is None:
            complaint = f"That is none of the labels.\nReply with one of them and nothing else: {', '.join(labels)}"
            turns = _repair_turns(messages, reply, complaint)
            judgement = judging.read_judgement(await self._judge(replace(request, prompt=turns, repair=True)), labels)
        return judgement or Judgement(None, "T0")

    async def ask(
        self, messages: Sequence[Message], schema: type[S], *, role: str, sample: int = 0, form_stated: bool = False
    ) -> S:
        """`sample` tells apart repeated askings of the same; `form_stated`: the messages say what form is wanted."""
        turns = asked = tuple(messages) if form_stated else structured.schema_turns(messages, schema)
        request = ModelRequest(turns, role, json_schema=schema.model_json_schema(), sample=sample)
        reply = await self._enter(request)
        reading = structured.read_reply(reply, schema, turns)
        if reading.problem is not None:
            complaint = (
                f"That cannot be used: {reading.problem}. Reply with the corrected JSON object and nothing else."
            )
            turns = _repair_turns(turns, reply, complaint)
            reply = await self._enter(replace(request, prompt=turns, repair=True))
            reading = structured.read_reply(reply, schema, asked)
        if reading.value is None:
            raise UnreadableReplyError(
                f"{self._who(role)}: no reply is a {schema.__name__}, not even after a repair turn: {reading.problem}",
                raw=_text(reply),
            )
        return reading.value

    async def continue_text(
        self, prompt: str, *, role: str, limit: int, stop: tuple[str, ...] = (), alternatives: int = 0
    ) -> Continuation:
        return _continuation(
            await self._enter(ModelRequest(prompt, role, limit=limit, stop=stop, alternatives=alternatives))
        )

    async def _judge(self, request: ModelRequest) -> Reply:
        """Ask for a label, within few tokens until the model shows that it reasons first and needs all it may have.

        Probabilities are not asked of a model that reasons: they would mean nothing, and some servers refuse.
        """
        if not self._reasons:
            reply = await self._record(replace(request, alternatives=judging.ALTERNATIVES))
            if not _wants_room(reply):
                return self._checked(reply, request)
            self._reasons = True
            request = replace(request, repair=True)
        return await self._enter(replace(request, limit=None))

    async def _enter(self, request: ModelRequest) -> Reply:
        return self._checked(await self._record(request), request)

    async def _record(self, request: ModelRequest) -> Reply:
        """The reply, with its entry in its place. Nothing is awaited between a grant and its count."""
        self._grant(request.role)
        place = len(self._entries)
        self._entries.append(None)
        started = self._clock()
        asked = replace(request, role=well_formed(request.role))
        try:
            reply = await self._model.complete(asked)
        except anyio.get_cancelled_exc_class():
            given_up = Metering(asked, self._model.name, [CallAttempt(None, None, fault=GIVEN_UP)]).call(error=GIVEN_UP)
            self._entries[place] = replace(given_up, started_seconds=started)
            raise
        call = replace(reply.call, started_seconds=started)
        self._entries[place] = call
        return replace(reply, call=call)

    def _grant(self, role: str) -> None:
        attempts = (attempt for call in self.calls for attempt in call.attempts)
        tokens = sum((attempt.input_tokens or 0) + (attempt.output_tokens or 0) for attempt in attempts)
        spent = self._allowance.spent(len(self._entries), tokens)
        if spent is None:
            return
        if role != FINAL_ROLE or self._final_calls >= FINAL_CALLS:
            raise AllowanceSpent(f"{self._who(role)}: {spent}")
        self._final_calls += 1

    def _checked(self, reply: Reply, request: ModelRequest) -> Reply:
        if reply.text is None:
            number = len(reply.call.attempts)
            attempts = f"{number} attempt{'s' if number != 1 else ''}"
            kind = PromptTooLongError if _TOO_LONG.search(reply.call.error or "") else ModelCallError
            raise kind(f"{self._who(request.role)}, after {attempts}: {reply.call.error}")
        return reply

    def _who(self, role: str) -> str:
        return f"model {self._model.name!r}, role {role!r}"


def _wants_room(reply: Reply) -> bool:
    """Whether a reply bounded to a label's length could only be reasoning, or was refused because of that."""
    if reply.text is None:
        return bool(_BOUND_REFUSED.search(reply.call.error or ""))
    return cut_before_speaking(reply.text, reply.call.finish_reason)


def _repair_turns(messages: Sequence[Message], reply: Reply, complaint: str) -> tuple[Message, ...]:
    """The conversation with the reply that could not be used, and why."""
    said = without_reasoning(_text(reply)) or "(nothing)"
    return (*messages, Message("assistant", said), Message("user", complaint))


def _continuation(reply: Reply) -> Continuation:
    return Continuation(_text(reply), reply.tokens, reply.call.finish_reason)


def _text(reply: Reply) -> str:
    return reply.text or ""
