"""How a model is opened, and which file it is made of."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio

from arena.config import LLMSettings
from arena.files import file_sha256
from arena.llm.cache import ReplyCache
from arena.llm.client import LLMClient
from arena.llm.limits import Budget
from arena.llm.providers import FAKE, LOCAL, keeps_replies, model_identity, parse_model
from arena.llm.wire import ModelAccess
from arena.types import Purpose


@asynccontextmanager
async def open_model(
    settings: LLMSettings,
    *,
    weights: Callable[[str], Path],
    cache: ReplyCache | None = None,
    budget: Budget | None = None,
    purpose: Purpose = "question",
    content_sha256: str | None = None,
    rng: random.Random | None = None,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    clock: Callable[[], float] = time.perf_counter,
) -> AsyncIterator[LLMClient]:
    """The model of `settings`, reachable and authorised as far as that can be known; closed on leaving.

    `weights` gives the file of a named local model (`smollm2-135m`). Replies are kept in `cache` and taken from it, as
    `settings.cache` says; None = not at all. `budget` is told of every attempt, as one for `purpose`. `content_sha256`
    is `model_sha256`, where it is known already. `rng` draws the jitter of back-offs, `sleep` and `clock` (seconds,
    monotonic) pass and read time.

    Raises:
        ConfigError: `settings.model` or `settings.base_url` is malformed.
        UnknownNameError: no such provider (or, from `weights`, no such model).
        ModelSetupError: a package, a key, a file or the server is missing, or the key is refused.
    """
    async with AsyncExitStack() as stack:
        access = await _open(settings, weights, stack)
        kept_in = cache if keeps_replies(settings) else None
        if kept_in is not None and content_sha256 is None:
            content_sha256 = model_sha256(settings, weights)
        yield LLMClient(
            access,
            settings,
            name=model_identity(settings),
            identity=_replying(settings, access, content_sha256),
            cache=kept_in,
            budget=budget,
            purpose=purpose,
            rng=rng,
            sleep=sleep,
            clock=clock,
        )


def _replying(settings: LLMSettings, access: ModelAccess, content_sha256: str | None) -> Mapping[str, object]:
    """Who replies: all about a model that can change a reply and is no parameter of it."""
    return {
        "model": model_identity(settings),
        "endpoint": access.endpoint,
        "content_sha256": content_sha256,
        "engine": access.engine,
    } | ({"place": dict(access.place)} if access.place else {})


def model_sha256(settings: LLMSettings, weights: Callable[[str], Path]) -> str | None:
    """SHA-256 of `model_file`; None where there is no such file. Raises as that does."""
    path = model_file(settings, weights)
    return None if path is None else file_sha256(path)


def model_file(settings: LLMSettings, weights: Callable[[str], Path]) -> Path | None:
    """The file a local model, or the script a fake, is made of; None where there is no such file.

    Raises what `open_model` raises for a malformed name, an unknown provider or a file that is not there.
    """
    model = parse_model(settings)
    if model.provider == LOCAL:
        from arena.llm.local import local_file

        return local_file(model.name, weights)
    if model.provider == FAKE and model.name:
        from arena.llm.fake.script import read_script

        read_script(Path(model.name))
        return Path(model.name)
    return None


async def _open(settings: LLMSettings, weights: Callable[[str], Path], stack: AsyncExitStack) -> ModelAccess:
    model = parse_model(settings)
    if model.provider == FAKE:
        from arena.llm.fake.chat import fake_access

        return fake_access(settings, Path(model.name) if model.name else None)
    if model.provider == LOCAL:
        from arena.llm.local import local_access

        return await stack.enter_async_context(local_access(settings, model.name, weights))
    return await _open_remote(settings, model.provider, stack)


async def _open_remote(settings: LLMSettings, provider: str, stack: AsyncExitStack) -> ModelAccess:
    from arena.llm.remote import (
        check_endpoint,
        checked_url,
        model_http_client,
        remote_access,
        served_window,
        takes_http_client,
    )

    if settings.base_url is not None:
        settings = settings.model_copy(update={"base_url": checked_url(settings.base_url)})
    http_client = None
    if takes_http_client(provider):
        # Our own, because LangChain's is shared by all event loops of the process and never closed.
        http_client = await stack.enter_async_context(model_http_client(settings.timeout_seconds))
    access = remote_access(settings, http_client)
    if access.endpoint is not None:
        models = await check_endpoint(access.endpoint, access.key, access.key_variable)
        if access.window is None and settings.base_url is not None:
            access = replace(access, window=await served_window(models, access, parse_model(settings).name))
    return access
