"""The metered gate to every language model, and how a model is opened.

Importing this package loads no provider and no LangChain; opening a model does.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

from arena.config import LLMSettings
from arena.llm.access import ModelAccess
from arena.llm.client import LLMClient
from arena.llm.ledger import Ledger
from arena.llm.providers import COMPATIBLE, FAKE, LOCAL, model_identity, parse_model, remote_access

__all__ = ["LLMClient", "Ledger", "model_file", "model_identity", "open_model"]


@asynccontextmanager
async def open_model(
    settings: LLMSettings,
    *,
    weights: Callable[[str], Path],
    rng: random.Random | None = None,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    clock: Callable[[], float] = time.perf_counter,
) -> AsyncIterator[LLMClient]:
    """The model of `settings`, reachable and authorised as far as that can be known; closed on leaving.

    `weights` gives the file of a named local model (`smollm2-135m`). `rng` draws the jitter of back-offs, `sleep` and
    `clock` (seconds, monotonic) pass and read time.

    Raises:
        ConfigError: `settings.model` or `settings.base_url` is malformed.
        UnknownNameError: no such provider (or, from `weights`, no such model).
        ModelSetupError: a package, a key, a file or the server is missing, or the key is refused.
    """
    name = model_identity(settings)
    async with AsyncExitStack() as stack:
        access = await _open(settings, weights, stack)
        yield LLMClient(access, settings, name=name, rng=rng, sleep=sleep, clock=clock)


def model_file(settings: LLMSettings, weights: Callable[[str], Path]) -> Path | None:
    """The file a local model, or the script a fake, is made of; None where there is no such file.

    Raises what `open_model` raises for a malformed name, an unknown provider or a file that is not there.
    """
    model = parse_model(settings)
    if model.provider == LOCAL:
        from arena.llm.local import local_file

        return local_file(model.name, weights)
    if model.provider == FAKE and model.name:
        from arena.llm.fake_script import read_script

        read_script(Path(model.name))
        return Path(model.name)
    return None


async def _open(settings: LLMSettings, weights: Callable[[str], Path], stack: AsyncExitStack) -> ModelAccess:
    model = parse_model(settings)
    if model.provider == FAKE:
        from arena.llm.fake import fake_access

        return fake_access(settings, Path(model.name) if model.name else None)
    if model.provider == LOCAL:
        from arena.llm.local import local_access

        return await stack.enter_async_context(local_access(settings, model.name, weights))
    return await _open_remote(settings, model.provider, stack)


async def _open_remote(settings: LLMSettings, provider: str, stack: AsyncExitStack) -> ModelAccess:
    from arena.llm.endpoint import check_endpoint, checked_url

    if settings.base_url is not None:
        settings = settings.model_copy(update={"base_url": checked_url(settings.base_url)})
    http_client = None
    if provider == COMPATIBLE:
        from openai import DefaultAsyncHttpxClient

        # Our own, because LangChain's is shared by all event loops of the process and never closed.
        http_client = await stack.enter_async_context(DefaultAsyncHttpxClient(timeout=settings.timeout_seconds))
    access = remote_access(settings, http_client)
    if access.endpoint is not None:
        await check_endpoint(access.endpoint, access.key, access.key_variable)
    return access
