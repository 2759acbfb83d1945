"""Short ways to ask a model in a test: no weights, no waiting."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio

from arena.config import LLMSettings
from arena.llm import LLMClient, open_model
from arena.protocols import Message, Reply

T = TypeVar("T")

HELLO = (Message("user", "hello there"),)


def no_weights(name: str) -> Path:
    raise AssertionError(f"nothing should look for the weights of {name!r}")


class Waits:
    """A `sleep` that does not wait, and keeps how long it should have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def with_model(settings: LLMSettings, use: Callable[[LLMClient], Awaitable[T]], waits: Waits | None = None) -> T:
    """What `use` returns for the opened model."""

    async def run() -> T:
        async with open_model(settings, weights=no_weights, sleep=waits or Waits()) as model:
            return await use(model)

    return anyio.run(run)


def ask(settings: LLMSettings, *, times: int = 1, waits: Waits | None = None) -> list[Reply]:
    """The replies to the same greeting, asked `times` times, one after the other."""

    async def use(model: LLMClient) -> list[Reply]:
        return [await model.complete(HELLO, role="generate") for _ in range(times)]

    return with_model(settings, use, waits)


def scripted(folder: Path, script: dict[str, Any], **settings: Any) -> LLMSettings:
    """Settings for the fake with `script`."""
    path = folder / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    return LLMSettings(model=f"fake:{path}", **settings)
