"""A language model that is none: for dry runs and tests, without weights, key or network.

It is a LangChain model, so that it is asked, limited, retried and counted by the same client as a real one.
Tokens are words: runs of characters between white space.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import httpx
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from arena.config import LLMSettings
from arena.llm.access import ModelAccess
from arena.llm.extractive import answer
from arena.llm.fake_script import Playback, Rule, Script, read_script

# Where the fake would be, were it a server; nothing is sent there.
_REQUEST = httpx.Request("POST", "http://fake.invalid/v1/chat/completions")


class FakeChat(BaseChatModel):
    """Plays a script; what the script leaves open is answered by the extractive rules."""

    max_tokens: int | None = None
    _playback: Playback = PrivateAttr()

    def __init__(self, script: Script, **values: Any) -> None:
        super().__init__(**values)
        self._playback = Playback(script)

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
        prompt = _prompt(messages)
        return self._result(messages, self._playback.react(prompt))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        prompt = _prompt(messages)
        rule = self._playback.react(prompt)
        latency_seconds = self._playback.latency_seconds(rule)
        if latency_seconds:
            await anyio.sleep(latency_seconds)
        return self._result(messages, rule)

    def _result(self, messages: list[BaseMessage], rule: Rule | None) -> ChatResult:
        if rule is not None and rule.error is not None:
            raise _fault(rule)
        # Earlier turns are worked examples: their passages and questions are not the ones at hand.
        text = answer(str(messages[-1].text)) if rule is None or rule.reply is None else rule.reply
        words = text.split()
        cut = self.max_tokens is not None and len(words) > self.max_tokens
        if cut:
            words = words[: self.max_tokens]
            text = " ".join(words)
        message = AIMessage(text, response_metadata={"finish_reason": "length" if cut else "stop"})
        if rule is None or rule.usage:
            counts = len(_prompt(messages).split()), len(words)
            message.usage_metadata = UsageMetadata(
                input_tokens=counts[0], output_tokens=counts[1], total_tokens=sum(counts)
            )
        return ChatResult(generations=[ChatGeneration(message=message)])


def fake_access(settings: LLMSettings, script: Path | None) -> ModelAccess:
    """The fake with the script in the file `script` (None = without one)."""
    chat = FakeChat(Script() if script is None else read_script(script), max_tokens=settings.max_tokens)
    return ModelAccess(chat)


def _prompt(messages: Sequence[BaseMessage]) -> str:
    return "\n".join(str(message.text) for message in messages)


def _fault(rule: Rule) -> httpx.HTTPError:
    if rule.error == "timeout":
        return httpx.ReadTimeout(rule.message, request=_REQUEST)
    if rule.error == "reset":
        return httpx.ReadError(rule.message, request=_REQUEST)
    seconds = rule.retry_after_seconds
    headers = {} if seconds is None else {"retry-after": f"{seconds:g}"}
    response = httpx.Response(int(rule.error or 0), headers=headers, request=_REQUEST)
    return httpx.HTTPStatusError(rule.message, request=_REQUEST, response=response)
