"""From a YAML file and options to a `RunConfig`, with messages that name the nearest known key."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from arena.config.environment import check_place
from arena.config.run import RunConfig
from arena.errors import ConfigError
from arena.yaml_reader import parse_yaml, read_yaml_file

_MOST_SHOWN = 200

_PLACES = ("runs_dir", "dataset", "llm.model", "judge.llm.model", "embedding.model", "rerank.model", "index.path")
"""Settings that are, or hold, the path of a file or folder."""


SWEEP_SECTION = "sweep"
"""Key of a config file that makes it a sweep's (`arena.config.sweep`)."""


def load_config(path: Path | None, overrides: Mapping[str, Any]) -> RunConfig:
    """The config file (None = the defaults), with `overrides` laid over it, nested keys merged.

    Raises:
        ConfigError: the file is unreadable or not YAML, or a setting is unknown or out of range; the
            message names the setting, the value and the nearest known key.
    """
    values = read_yaml(path)
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
        problems = "; ".join(_problems(error))
        raise ConfigError(f"{where}: {problems}") from None


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


def _problems(error: ValidationError) -> Iterator[str]:
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            known = _known_keys(item["loc"][:-1])
            near = difflib.get_close_matches(str(item["loc"][-1]), known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
            yield f"unknown setting {place!r}: {hint}"
        elif item["type"] == "missing":
            yield f"{place!r} is missing: it has no default"
        elif item["type"] == "tuple_type":
            yield f"{place!r} is {_shown(item['input'])}: write a list, as in [{item['input']}]"
        elif item["type"] == "too_short":
            if not item["input"]:  # else its members were refused, each with a line of its own
                yield f"{place!r} is empty: name at least one, or leave it out"
        elif item["type"] == "value_error":
            yield item["msg"].removeprefix("Value error, ") + (f" (in {place!r})" if place else "")
        else:
            yield f"{place!r} is {_shown(item['input'])}: {item['msg'][0].lower()}{item['msg'][1:]}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


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
