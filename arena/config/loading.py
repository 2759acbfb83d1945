"""Read a run's settings from a YAML file, from options and from the environment.

A message about an unknown key names the nearest known one. Nothing else in the project reads the environment: the keys
of providers, the places of files and the tracking server are all read here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from arena.config.run import RunConfig
from arena.config.settings import IndexConfig, LLMSettings
from arena.config.systems import SystemConfig
from arena.errors import ConfigError, setting_problems
from arena.files import check_place, parse_yaml, read_yaml_file
from arena.network import holds_key, is_loopback

CACHE_VARIABLE = "ARENA_CACHE"
PREPARED_VARIABLE = "ARENA_PREPARED"
_UNFINISHED = (".lock", ".building", ".part", ".incomplete")
_DOWNLOADS = ".downloads"


@cache
def _keys() -> Mapping[str, Any]:
    return dict(read_yaml_file(Path(__file__).with_name("keys.yaml"), "table of keys"))


def api_key(settings: LLMSettings) -> tuple[str, str | None]:
    """The environment variable that should hold the key of `settings`, and its value (None = not set).

    Raises:
        ConfigError: `base_url` is a server that has no business with the key.
    """
    provider = settings.model.partition(":")[0]
    variable = settings.api_key_variable or _keys()["usual"].get(provider, f"{provider.upper()}_API_KEY")
    _check_owner(variable, settings.base_url, "base_url", "api_key_variable")
    return variable, os.environ.get(variable) or None


def qdrant_key(settings: IndexConfig) -> str | None:
    """The key of a Qdrant server (None = its variable is not set). Raises as `api_key` does."""
    _check_owner(settings.api_key_variable, settings.url, "index.url", "index.api_key_variable")
    return os.environ.get(settings.api_key_variable) or None


def system_key(name: str, settings: SystemConfig) -> str | None:
    """The key that a system asked over HTTP is sent (None = it is sent none).

    Raises:
        ConfigError: its variable is not set, or holds what no header can carry; or as `api_key`.
    """
    variable, place = settings.api_key_variable, f"systems.{name}.api_key_variable"
    if variable is None:
        return None
    _check_owner(variable, settings.http, f"systems.{name}.http", place, trusted_here=False)
    key = (os.environ.get(variable) or "").strip()
    if not key or not (key.isascii() and key.isprintable()):
        problem = "holds what no header can carry" if key else "is not set"
        raise ConfigError(f"${variable}, the key of system {name!r}, {problem}: correct it, or leave {place} out")
    return key


def command_environment(settings: SystemConfig) -> dict[str, str]:
    """The environment that a command is started with: all of ours but keys, and of these those that it names.

    A key of a provider is nobody's business that was not named.
    """
    kept = {name: value for name, value in os.environ.items() if not holds_key(name)}
    return kept | {name: os.environ[name] for name in settings.environment if name in os.environ}


def _check_owner(variable: str, address: str | None, setting: str, instead: str, *, trusted_here: bool = True) -> None:
    """Refuse to send a well-known provider's key to another server.

    `trusted_here`: this machine may have any, for a gateway to the provider.
    """
    owners = _keys()["owners"].get(variable)
    if owners is None or address is None:
        return
    host = (urlsplit(address if "://" in address else f"//{address}").hostname or "").rstrip(".")
    if not (trusted_here and is_loopback(host)) and not any(
        host == owner or host.endswith(f".{owner}") for owner in owners
    ):
        raise ConfigError(
            f"${variable} is a key of {owners[0]}, and {setting} {address!r} is another server: put the key that this "
            f"server is to have into a variable of its own, say MY_SERVER_API_KEY, and that name into {instead}"
        )


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


_PLACES = ("runs_dir", "dataset", "llm.model", "judge.llm.model", "embedding.model", "rerank.model", "index.path")
"""Settings that are, or hold, the path of a file or folder."""


SWEEP_SECTION = "sweep"
"""Key of a config file that makes it a sweep's (`experiments.studies.sweep.config`)."""


def load_config(path: Path | None, overrides: Mapping[str, Any]) -> RunConfig:
    """The config file (None = the defaults), with `overrides` laid over it, nested keys merged.

    Raises:
        ConfigError: the file is unreadable or not YAML, or holds nothing, which would pass for all defaults in
            silence; or a setting is unknown or out of range, and the message names the setting, the value and the
            nearest known key.
    """
    values = read_yaml(path)
    if path is not None and not values:
        raise ConfigError(f"config {str(path)!r} holds no settings: write some, or leave the file out")
    if SWEEP_SECTION in values:
        raise ConfigError(
            f"{path} is a sweep's config, many runs and not one: arena sweep {path}; or leave its {SWEEP_SECTION} "
            "section out"
        )
    return validate_config(merge(values, overrides), str(path) if path else "the command line")


def validate_config(values: Mapping[str, Any], where: str) -> RunConfig:
    """`values` as a RunConfig; `where` names their origin in messages."""
    _check_places(values, where)
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{where}: {setting_problems(error, _known_keys)}") from None


def _check_places(values: Mapping[str, Any], where: str) -> None:
    for path in _PLACES:
        found: Any = values
        for name in path.split("."):
            found = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(found, str):
            check_place(found, f"{where}: {path}")


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the settings of `over` laid over it, key by key inside nested ones."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
    return merged


def parse_settings(texts: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE` or `PART.NAME=VALUE`, each VALUE as in a config file, as one nested mapping.

    Raises:
        ConfigError: one has no name or no value, or its value is not YAML.
    """
    settings: dict[str, Any] = {}
    for text in texts:
        path, equals, value = text.partition("=")
        names = path.strip().split(".")
        if not equals or not all(names):
            raise ConfigError(f"{text!r} is no setting: write NAME=VALUE, as in sample.limit=50")
        try:
            nested = parse_yaml(value)
        except ConfigError as error:
            raise ConfigError(f"the value of setting {text!r} {error}; quote it") from None
        for name in reversed(names):
            nested = {name: nested}
        settings = merge(settings, nested)
    return settings


def read_yaml(path: Path | None, what: str = "config") -> dict[str, Any]:
    """The settings in a YAML file (None, or an empty file: none). `what` the file is, for messages.

    Raises:
        ConfigError: as `read_yaml_file`, or it is no mapping.
    """
    if path is None:
        return {}
    content = read_yaml_file(path, what)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{what} {str(path)!r} holds a {type(content).__name__}: it must be a mapping of settings")
    return content


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    """Names of the settings at `location`; none where its keys are of the user's own choosing."""
    found: Any = RunConfig
    for part in location:
        if get_origin(found) is Mapping:
            found = get_args(found)[1]
        else:
            field = found.model_fields.get(str(part)) if _is_settings(found) else None
            found = field.annotation if field else None
    return list(found.model_fields) if _is_settings(found) else []


def _is_settings(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
