"""The completions endpoint of an OpenAI-compatible server: a text goes in, its continuation comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openai import AsyncOpenAI


@dataclass(frozen=True, slots=True)
class OpenAICompletions:
    """`POST /completions` through the OpenAI package, whose own retries are off."""

    client: AsyncOpenAI
    model: str

    async def __call__(self, prompt: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        # Not the package's typed call: it knows one form of log-probabilities, and servers have two.
        sent = {"model": self.model, "prompt": prompt, **body}
        return await self.client.post("/completions", body=sent, cast_to=dict[str, Any])
