"""The only readings of the environment: keys, places and the tracking server."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Literal

from arena.config.settings import IndexConfig, LLMSettings

CACHE_VARIABLE = "ARENA_CACHE"
PREPARED_VARIABLE = "ARENA_PREPARED"
_UNFINISHED = (".lock", ".building", ".part", ".incomplete")
_DOWNLOADS = ".downloads"
_KEY_VARIABLES = {"google_genai": "GOOGLE_API_KEY", "mistralai": "MISTRAL_API_KEY"}
"""Where a provider's usual variable is not PROVIDER_API_KEY."""


def api_key(settings: LLMSettings) -> tuple[str, str | None]:
    """The environment variable that should hold the key of `settings`, and its value (None = not set)."""
    provider = settings.model.partition(":")[0]
    variable = settings.api_key_variable or _KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")
    return variable, os.environ.get(variable) or None


def qdrant_key(settings: IndexConfig) -> str | None:
    """The key of a Qdrant server (None = its variable is not set)."""
    return os.environ.get(settings.api_key_variable) or None


def cache_dir() -> Path:
    """Where weights and indexes are kept: $ARENA_CACHE, else the user's cache folder."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
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
