"""The only readings of the environment: keys, places and the tracking server."""

from __future__ import annotations

import os
from pathlib import Path

from arena.config.settings import IndexConfig, LLMSettings

CACHE_VARIABLE = "ARENA_CACHE"
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


def tracking_uri() -> str | None:
    """The MLflow server the user chose by MLflow's own variable (None = a SQLite file beside the runs)."""
    return os.environ.get("MLFLOW_TRACKING_URI") or None
