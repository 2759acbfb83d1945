"""The only readings of the environment: keys, places and the tracking server."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from arena.config.settings import IndexConfig, LLMSettings
from arena.errors import ConfigError
from arena.network import is_loopback

CACHE_VARIABLE = "ARENA_CACHE"
PREPARED_VARIABLE = "ARENA_PREPARED"
_UNFINISHED = (".lock", ".building", ".part", ".incomplete")
_DOWNLOADS = ".downloads"
_KEY_VARIABLES = {"google_genai": "GOOGLE_API_KEY", "mistralai": "MISTRAL_API_KEY"}
"""Where a provider's usual variable is not PROVIDER_API_KEY."""

_OWNERS: Mapping[str, tuple[str, ...]] = {
    "ANTHROPIC_API_KEY": ("anthropic.com",),
    "AWS_SECRET_ACCESS_KEY": ("amazonaws.com",),
    "AWS_SESSION_TOKEN": ("amazonaws.com",),
    "AZURE_OPENAI_API_KEY": ("azure.com", "azure-api.net"),
    "COHERE_API_KEY": ("cohere.com", "cohere.ai"),
    "DEEPSEEK_API_KEY": ("deepseek.com",),
    "FIREWORKS_API_KEY": ("fireworks.ai",),
    "GEMINI_API_KEY": ("googleapis.com",),
    "GH_TOKEN": ("github.ai", "github.com"),
    "GITHUB_TOKEN": ("github.ai", "github.com"),
    "GOOGLE_API_KEY": ("googleapis.com",),
    "GROQ_API_KEY": ("groq.com",),
    "HF_TOKEN": ("huggingface.co", "hf.space", "endpoints.huggingface.cloud"),
    "LANGSMITH_API_KEY": ("langchain.com",),
    "MISTRAL_API_KEY": ("mistral.ai",),
    "OPENAI_API_KEY": ("openai.com",),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "TAVILY_API_KEY": ("tavily.com",),
    "TOGETHER_API_KEY": ("together.ai", "together.xyz"),
    "XAI_API_KEY": ("x.ai",),
}
"""Variables that many shells have set, and whose servers may see their keys. A config may come from someone else."""

_STORES = re.compile(
    r"(?<![a-z0-9])(?:s3|s3a|s3n|gs|gcs|az|azure|abfss?|wasbs?|adl|hdfs|webhdfs|oss|cos|r2|b2|swift|dbfs|s?ftp|scp|ssh|file)://",
    re.IGNORECASE,
)
"""Addresses of files, which no option takes; those of servers begin with http."""


def api_key(settings: LLMSettings) -> tuple[str, str | None]:
    """The environment variable that should hold the key of `settings`, and its value (None = not set).

    Raises:
        ConfigError: `base_url` is a server that has no business with the key.
    """
    provider = settings.model.partition(":")[0]
    variable = settings.api_key_variable or _KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")
    _check_owner(variable, settings.base_url, "base_url", "api_key_variable")
    return variable, os.environ.get(variable) or None


def qdrant_key(settings: IndexConfig) -> str | None:
    """The key of a Qdrant server (None = its variable is not set). Raises as `api_key` does."""
    _check_owner(settings.api_key_variable, settings.url, "index.url", "index.api_key_variable")
    return os.environ.get(settings.api_key_variable) or None


def _check_owner(variable: str, address: str | None, setting: str, instead: str) -> None:
    """Refuse to send a well-known provider's key to another server; this machine is trusted with any (a gateway)."""
    owners = _OWNERS.get(variable)
    if owners is None or address is None:
        return
    host = (urlsplit(address if "://" in address else f"//{address}").hostname or "").rstrip(".")
    if not is_loopback(host) and not any(host == owner or host.endswith(f".{owner}") for owner in owners):
        raise ConfigError(
            f"${variable} is a key of {owners[0]}, and {setting} {address!r} is another server: put the key that this "
            f"server is to have into a variable of its own, say MY_SERVER_API_KEY, and that name into {instead}"
        )


def check_place(text: str, where: str) -> None:
    """Refuse an address in the place of a file or folder: it would become a folder `s3:` on this machine.

    Raises:
        ConfigError: `text`, named by `where`, holds `SCHEME://`.
    """
    if "://" in text:
        raise ConfigError(
            f"{where}: {text!r} is an address, and files are read and written on this machine alone: copy them here "
            "and back, or mount the store as a folder"
        )


def check_typed(arguments: Iterable[str]) -> None:
    """Refuse addresses of stores of files anywhere on the command line, before a path is made of them.

    Raises:
        ConfigError: an argument holds one.
    """
    for argument in arguments:
        if _STORES.search(argument):
            check_place(argument, "the command line")


def cache_dir() -> Path:
    """Where weights and indexes are kept: $ARENA_CACHE, else the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        check_place(chosen, f"${CACHE_VARIABLE}")
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rag-strategy-arena"


def cache_folder(kind: Literal["weights", "datasets", "indexes"]) -> Path:
    """The part of the cache for things of that kind, with what lies prepared in $ARENA_PREPARED linked into it.

    The prepared folder has the shape of a cache and is only read: what is not there, or not whole, is made in the
    cache. It need not exist.
    """
    folder = cache_dir() / kind
    prepared = os.environ.get(PREPARED_VARIABLE)
    if prepared:
        with suppress(OSError):  # a cache that cannot be written is named by whoever writes to it
            _link(Path(prepared).expanduser().resolve() / kind, folder, whole=kind == "indexes")
    return folder


def _link(prepared: Path, folder: Path, *, whole: bool) -> None:
    """Links in `folder` to all of `prepared` that it lacks: to each entry of it if `whole`, else file by file."""
    if not prepared.is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for place in sorted(prepared.iterdir()):
        target = folder / place.name
        if place.name.endswith(_UNFINISHED) or place.name == _DOWNLOADS:
            continue
        if place.is_dir() and not whole:
            _link(place, target, whole=False)
        elif not target.exists():
            target.unlink(missing_ok=True)  # a link to what was prepared before
            target.symlink_to(place)


def tracking_uri() -> str | None:
    """The MLflow server the user chose by MLflow's own variable (None = a SQLite file beside the runs)."""
    return os.environ.get("MLFLOW_TRACKING_URI") or None
