"""Short ways to ask a model in a test: no weights, no waiting."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio

from arena.config import LLMSettings
from arena.llm.client import LLMClient
from arena.llm.opening import open_model
from arena.protocols import Message, ModelRequest, Reply

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


def with_model(
    settings: LLMSettings, use: Callable[[LLMClient], Awaitable[T]], waits: Waits | None = None, **options: Any
) -> T:
    """What `use` returns for the model opened with `options`."""

    async def run() -> T:
        async with open_model(settings, weights=no_weights, sleep=waits or Waits(), **options) as model:
            return await use(model)

    return anyio.run(run)


def asking(prompt: str | Sequence[Message] = HELLO, **fields: Any) -> ModelRequest:
    """A request of the role `generate`, if `fields` name no other."""
    plain = prompt if isinstance(prompt, str) else tuple(prompt)
    return ModelRequest(plain, **({"role": "generate"} | fields))


def ask(
    settings: LLMSettings,
    *requests: ModelRequest,
    times: int = 1,
    waits: Waits | None = None,
    **options: Any,
) -> list[Reply]:
    """The replies to `requests` (none = the greeting, `times` times), asked one after the other."""

    async def use(model: LLMClient) -> list[Reply]:
        return [await model.complete(request) for request in requests or (asking(),) * times]

    return with_model(settings, use, waits, **options)


async def ask_at_once(model: LLMClient, requests: Sequence[ModelRequest]) -> list[Reply]:
    """The replies to `requests`, asked all at once, in their order."""
    replies: dict[int, Reply] = {}

    async def one(place: int, request: ModelRequest) -> None:
        replies[place] = await model.complete(request)

    async with anyio.create_task_group() as group:
        for place, request in enumerate(requests):
            group.start_soon(one, place, request)
    return [replies[place] for place in sorted(replies)]


def scripted(folder: Path, script: dict[str, Any], **settings: Any) -> LLMSettings:
    """Settings for the fake with `script`."""
    path = folder / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    return LLMSettings(model=f"fake:{path}", **settings)
