"""A strategy under given settings, as a config names it: `adaptive`, `adaptive:policy=always_b:cost_bias=0.1`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from arena.errors import ConfigError
from arena.types import Scalar
from arena.yaml_reader import parse_yaml
from strategies.base import GraphStrategy, StrategySpec
from strategies.params import Params
from strategies.table import find_strategy
from strategies.trained import TrainedModel


@dataclass(frozen=True, slots=True)
class Variant:
    """A spec with the settings it is to run under."""

    spec: StrategySpec
    params: Params

    def build(self) -> GraphStrategy:
        return self.spec.build(self.params)

    @property
    def uses_external(self) -> bool:
        return self.spec.uses_external(self.params)

    @property
    def trained(self) -> TrainedModel | None:
        return self.spec.trained(self.params)

    @property
    def settings(self) -> dict[str, Scalar]:
        """All settings as plain values, lists joined by commas; what is None is left out."""
        values = self.params.model_dump(mode="json", exclude_none=True)
        return {name: ",".join(map(str, value)) if isinstance(value, list) else value for name, value in values.items()}


def find_variant(entry: str, defaults: Mapping[str, Mapping[str, Any]] | None = None) -> Variant:
    """The variant that `entry` names: `NAME`, or `NAME:KEY=VALUE` with as many `:KEY=VALUE` as wanted.

    `defaults`: strategy -> settings that hold where the entry does not say.

    Raises:
        UnknownNameError: no such strategy.
        ConfigError: a setting is unknown, malformed or out of range; or a plugin is no strategy (see `find_strategy`).
    """
    name, *settings = entry.split(":")
    spec = find_strategy(name)
    given: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not equals:
            raise ConfigError(f"strategy {entry!r}: {setting!r} sets nothing; write {name}:KEY=VALUE")
        if key in given:
            raise ConfigError(f"strategy {entry!r} sets {key!r} twice: leave one out")
        given[key] = _scalar(value, entry)
    try:
        return Variant(spec, spec.params.model_validate({**(defaults or {}).get(name, {}), **given}))
    except ValidationError as error:
        raise ConfigError(f"strategy {entry!r}: {'; '.join(_problems(error, spec))}") from None


def _scalar(text: str, entry: str) -> Any:
    try:
        return parse_yaml(text)
    except ConfigError:
        raise ConfigError(f"strategy {entry!r}: the value {text!r} cannot be read; quote it in a config file") from None


def _problems(error: ValidationError, spec: StrategySpec) -> list[str]:
    known = sorted(spec.params.model_fields)
    problems = []
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        if item["type"] != "extra_forbidden":
            message = item["msg"].removeprefix("Value error, ")
            problems.append(f"{place} is {item['input']!r}: {message[0].lower()}{message[1:]}" if place else message)
        elif not known:
            problems.append(f"it has no settings, not {place!r}")
        else:
            near = difflib.get_close_matches(place, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            problems.append(f"unknown setting {place!r}: {hint}")
    return problems
