"""A language model that is none: for trial runs and tests, without weights, key or network.

It is a LangChain model, so that it is asked, limited, retried and counted by the same client as a real one.
"""

from __future__ import annotations

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
from arena.llm.access import ModelAccess
from arena.llm.fake_faults import FaultName, costs_nothing, drawn_error, scripted_error
from arena.llm.fake_playback import Playback
from arena.llm.fake_reply import TEXT, FakeRequest, compose, message, spoiled
from arena.llm.fake_script import Rule, Script, read_script
from arena.llm.fake_tally import Tally

_TURNS = {"human": "user", "ai": "assistant"}


@dataclass(frozen=True, slots=True)
class _Reaction:
    """How a request is met: by a fault, by a rule, or by the built-in rules (both None)."""

    fault: FaultName | None = None
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
    _tally: Tally = PrivateAttr()

    def __init__(self, script: Script, **values: Any) -> None:
        super().__init__(**values)
        self._playback = Playback(script)
        self._tally = Tally(script.tally)

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
