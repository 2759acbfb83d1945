"""A GGUF model inside this process: llama.cpp's own server on a free loopback port.

The same prompt gives the same reply, whatever was asked before, however much is asked at once and on any number of
cores: the server evaluates one prompt at a time, from its first token, in batches of a fixed size, without flash
attention. (A batch shared with other prompts, a cached prefix, another batch size or flash attention's split over
threads change the order of floating-point sums and, now and then, a word. Another kind of CPU may still do so.)
More calls in flight would only wait inside the server and count as its time, so one is the default.
"""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio

from arena.config import LLMSettings
from arena.errors import ModelSetupError
from arena.llm.remote import llama_counter, model_http_client, never_asked, openai_dialect
from arena.llm.wire import PLAIN, Dialect, ModelAccess, OpenAICompletions, Window

CONTEXT_TOKENS = 8192
_BATCH_TOKENS = 256
_MOST_THREADS = 8
_ERRORS_ONLY = 0
_MAGIC = b"GGUF"


def local_file(name: str, weights: Callable[[str], Path]) -> Path:
    """The file behind `local:NAME`: the path itself when it ends in .gguf, else what `weights` has for the name.

    Raises:
        ModelSetupError: the file cannot be read, or is no GGUF file.
    """
    path = Path(name).expanduser() if name.lower().endswith(".gguf") else weights(name)
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise ModelSetupError(
            f"cannot read the weights {str(path)!r} of model 'local:{name}' ({error.strerror}): check the path"
        ) from None
    if magic != _MAGIC:
        raise ModelSetupError(f"{str(path)!r} is no GGUF file (it begins with {magic!r}): name one that is")
    return path


@asynccontextmanager
async def local_access(settings: LLMSettings, name: str, weights: Callable[[str], Path]) -> AsyncIterator[ModelAccess]:
    """The model, served until the block is left.

    The server takes only requests with a key made up here, so that no other program on the machine is served.

    Raises:
        ModelSetupError: the file is missing, or is nothing that llama.cpp can load.
    """
    from langchain_openai.chat_models.base import BaseChatOpenAI
    from pydantic import SecretStr

    path = local_file(name, weights)
    key = secrets.token_hex(16)
    window = settings.context_tokens or CONTEXT_TOKENS
    server = await anyio.to_thread.run_sync(_serve, path, key, window)
    try:
        # Proxies of the environment are for other machines.
        async with model_http_client(settings.timeout_seconds, obeys_environment=False) as http_client:
            chat = BaseChatOpenAI(
                model=path.stem,
                base_url=f"{server.listening_address}/v1",
                api_key=SecretStr(key),
                http_client=never_asked(),
                http_async_client=http_client,
                use_responses_api=False,
                max_retries=0,
                temperature=settings.temperature,
                max_tokens=settings.max_tokens,
                top_p=settings.top_p,
                seed=settings.seed,
                **PLAIN,
            )
            yield ModelAccess(
                chat,
                openai_dialect(chat) or Dialect(),
                OpenAICompletions(chat.root_async_client, path.stem),
                key=key,
                default_concurrency=1,
                engine=f"xllamacpp {version('xllamacpp')}",
                window=Window(
                    window,
                    "llm.context_tokens" if settings.context_tokens else "the arena's own server",
                    llama_counter(
                        server.listening_address, {"Authorization": f"Bearer {key}"}, obeys_environment=False
                    ),
                ),
            )
    finally:
        del server  # the last reference: stops the server and frees the model


def _serve(path: Path, key: str, window: int) -> Any:
    """A running `xllamacpp.Server`; it stops when the last reference to it goes."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.port = 0  # the system chooses a free one
    params.api_keys = [key]
    params.verbosity = _ERRORS_ONLY
    params.ui = params.endpoint_slots = params.fit_params = False
    params.n_ctx = window
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_prompt = params.cache_idle_slots = False
    params.cache_ram_mib = params.n_ctx_checkpoints = 0
    cores = min(_usable_cores(), _MOST_THREADS)
    params.cpuparams_batch.n_threads = cores
    # Threads meet after every layer of every token: one that has to share its core stops all, so one core stays free.
    params.cpuparams.n_threads = max(1, cores - 1)
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ModelSetupError(
            f"llama.cpp cannot load {str(path)!r} ({error}): the file may be cut short, its architecture unknown to "
            "this version of xllamacpp, or the memory too small"
        ) from None


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
