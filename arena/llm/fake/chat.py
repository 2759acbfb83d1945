"""The fake model: a LangChain model without weights, key or network, for trial runs and tests.

It is asked, limited, retried and counted by the same client as a real one. It plays a script, and can log what it
handed out, so that a ledger can be checked against it. The log has one JSON line a request, written as its answer is
handed out, so that a request given up before has none:

    {"prompt": "16 hex digits", "call": "16 hex digits", "input_tokens": 12, "output_tokens": 3, "fault": null}

`prompt` is the ledger's hash of the prompt, `call` one of prompt and parameters. Tokens are those the reply tells: null
where it tells none (`no_usage`, a timeout, a broken connection, a response that is no JSON), 0 where it was refused.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from arena.config import LLMSettings
from arena.llm.fake.replies import TEXT, FakeRequest, compose, message, spoiled
from arena.llm.fake.script import (
    MIN_STATUS,
    FaultDraw,
    Rule,
    Script,
    costs_nothing,
    drawn_error,
    read_script,
    scripted_error,
)
from arena.llm.wire import ModelAccess


class Playback:
    """Reacts to each call in order of asking."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._played = [0] * len(script.rules)
        self._replied = 0
        self._faults = FaultDraw(script.faults, script.seed)

    def fault(self, request: FakeRequest) -> str | None:
        """The fault that this asking of `request` meets."""
        return self._faults.draw(request.call_id) if self._faults.any else None

    def react(self, prompt: str) -> Rule | None:
        """The rule to play for `prompt`; None = the script says nothing."""
        for place, rule in enumerate(self.script.rules):
            used_up = rule.times is not None and self._played[place] >= rule.times
            if not used_up and re.search(rule.when or "", prompt):
                self._played[place] += 1
                return rule
        if not self.script.replies:
            return None
        self._replied += 1
        if self._replied > len(self.script.replies):
            return Rule(error=MIN_STATUS, message="the script's replies are used up")
        return Rule(reply=self.script.replies[self._replied - 1])

    def latency_seconds(self, rule: Rule | None) -> float:
        own = rule.latency_seconds if rule is not None else None
        return self.script.latency_seconds if own is None else own


class RequestLog:
    """Adds to the file `path`; None = keeps nothing. Lines of several processes do not mix, and a kill loses none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def add(self, request: FakeRequest, tokens: tuple[int | None, int | None], fault: str | None) -> None:
        """Enter what was handed out for `request`: tokens in and out, and the fault it met."""
        if self._path is None:
            return
        fields: dict[str, Any] = {"prompt": request.prompt_id, "call": request.call_id}
        fields |= {"input_tokens": tokens[0], "output_tokens": tokens[1], "fault": fault}
        line = f"{json.dumps(fields)}\n".encode("ascii")
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)


_TURNS = {"human": "user", "ai": "assistant"}


@dataclass(frozen=True, slots=True)
class _Reaction:
    """How a request is met: by a fault, by a rule, or by the built-in rules (both None)."""

    fault: str | None = None
    rule: Rule | None = None
    error: Exception | None = None

    @property
    def name(self) -> str | None:
        """What the tally calls the fault: as drawn, else the rule's error; None = there is none."""
        if self.fault is not None or self.rule is None or self.rule.error is None:
            return self.fault
        return str(self.rule.error)


class FakeChat(BaseChatModel):
    """Plays a script; what the script leaves open is answered by the built-in rules.

    Understands OpenAI's `max_tokens`, `stop`, `logprobs`, `top_logprobs` and `response_format`; whatever else is sent
    or set changes no reply, but makes another call of it.
    """

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    _playback: Playback = PrivateAttr()
    _tally: RequestLog = PrivateAttr()

    def __init__(self, script: Script, **values: Any) -> None:
        super().__init__(**values)
        self._playback = Playback(script)
        self._tally = RequestLog(script.tally)

    @property
    def _llm_type(self) -> str:
        return "fake"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        request = self._request(messages, stop, kwargs)
        return _result(self._hand_out(request, self._react(request)))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _result(await self.reply(self._request(messages, stop, kwargs)))

    async def reply(self, request: FakeRequest) -> AIMessage:
        """The message that answers `request`; raises what a provider's package would."""
        reaction = self._react(request)
        latency_seconds = self._playback.latency_seconds(reaction.rule)
        if latency_seconds:
            await anyio.sleep(latency_seconds)
        return self._hand_out(request, reaction)

    def _request(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]) -> FakeRequest:
        parameters = {"temperature": self.temperature, "top_p": self.top_p, "seed": self.seed, **kwargs}
        max_tokens = parameters.pop("max_tokens", None)
        wanted, alternatives = parameters.pop("logprobs", None), parameters.pop("top_logprobs", None)
        return FakeRequest(
            turns=tuple((_TURNS.get(turn.type, turn.type), str(turn.text)) for turn in messages),
            max_tokens=self.max_tokens if max_tokens is None else max_tokens,
            stop=tuple(stop or ()),
            alternatives=alternatives or 0 if wanted else None,
            response_format=parameters.pop("response_format", None),
            parameters=parameters,
        )

    def _react(self, request: FakeRequest) -> _Reaction:
        fault = self._playback.fault(request)
        error = drawn_error(fault, self._playback.script.faults, form=request.wants_form)
        if error is not None:
            return _Reaction(fault, error=error)
        rule = self._playback.react(request.prompt)
        if rule is not None and rule.error is not None:
            return _Reaction(rule=rule, error=scripted_error(rule.error, rule.message, rule.retry_after_seconds))
        return _Reaction(fault, rule)

    def _hand_out(self, request: FakeRequest, reaction: _Reaction) -> AIMessage:
        """The reply, or the error raised, and either of them entered in the tally."""
        if reaction.error is not None:
            self._tally.add(request, (0, 0) if costs_nothing(reaction.error) else (None, None), reaction.name)
            raise reaction.error
        said, ending = spoiled(compose(request, reaction.rule), reaction.fault)
        told = reaction.fault != "no_usage" and (reaction.rule is None or reaction.rule.usage)
        reply = message(request, said, ending, usage=told)
        usage = reply.usage_metadata
        tokens = (usage["input_tokens"], usage["output_tokens"]) if usage else (None, None)
        self._tally.add(request, tokens, reaction.name)
        return reply


@dataclass(frozen=True, slots=True)
class FakeCompletions:
    """The same script as a completions endpoint."""

    chat: FakeChat

    async def __call__(self, prompt: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        parameters = dict(body)
        stop = parameters.pop("stop", None) or ()
        reply = await self.chat.reply(
            FakeRequest(
                turns=((TEXT, prompt),),
                max_tokens=parameters.pop("max_tokens", self.chat.max_tokens),
                stop=(stop,) if isinstance(stop, str) else tuple(stop),
                alternatives=parameters.pop("logprobs", None),
                parameters=parameters,
            )
        )
        said = reply.response_metadata
        choice = {"text": reply.text, "finish_reason": said["finish_reason"], "logprobs": said.get("logprobs")}
        usage = reply.usage_metadata
        counts = usage and {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]}
        return {"object": "text_completion", "choices": [choice], "usage": counts}


def fake_access(settings: LLMSettings, script: Path | None) -> ModelAccess:
    """The fake with the script in the file `script` (None = without one)."""
    chat = FakeChat(Script() if script is None else read_script(script), max_tokens=settings.max_tokens)
    return ModelAccess(chat, completions=FakeCompletions(chat))


def _result(reply: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=reply)])
