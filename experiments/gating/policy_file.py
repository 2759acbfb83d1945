"""A gate's policy, read from a YAML file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from arena.config.loading import read_yaml
from arena.errors import ConfigError
from experiments.gating.policy import Bounds, CellPair, Policy, nearest

_PARTS: dict[str, type[BaseModel]] = {"cells": Bounds, "pairs": CellPair}


def read_policy(path: Path) -> Policy:
    """The policy in a file.

    Raises:
        ConfigError: it cannot be read, is not YAML, or names something unknown or out of range; the message names the
            setting, the value and the nearest known key.
    """
    content = read_yaml(path, "policy")
    try:
        return Policy.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"policy {str(path)!r}: {'; '.join(_problems(error))}") from None


def _problems(error: ValidationError) -> Iterator[str]:
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            yield f"unknown setting {place!r}: {nearest(str(item['loc'][-1]), _known(item['loc']))}"
        elif item["type"] == "value_error":
            yield item["msg"].removeprefix("Value error, ") + (f" (in {place!r})" if place else "")
        elif item["type"] == "missing":
            yield f"{place!r} is missing: it has no default"
        else:
            yield f"{place!r} is {item['input']!r}: {item['msg'][0].lower()}{item['msg'][1:]}"


def _known(location: tuple[Any, ...]) -> tuple[str, ...]:
    part = _PARTS.get(str(location[0]), Policy) if len(location) > 1 else Policy
    return tuple(part.model_fields)
