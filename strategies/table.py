"""The table of strategies, and a strategy under given settings as a config names it.

A name with settings is written `adaptive:policy=always_b:cost_bias=0.1`. Other packages add strategies through entry
points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import ValidationError

from arena.errors import ConfigError, UnknownNameError, setting_problems
from arena.files import parse_yaml
from arena.types import Scalar
from strategies import adaptive, controls, corrective, ircot, self_rag, vanilla
from strategies.base import GraphStrategy, Params, StrategySpec, TrainedModel

ENTRY_POINTS = "arena.strategies"

STRATEGIES: dict[str, StrategySpec] = {
    spec.name: spec
    for spec in (
        vanilla.VANILLA,
        self_rag.SELF_RAG,
        corrective.CORRECTIVE,
        adaptive.ADAPTIVE,
        ircot.IRCOT,
        controls.RETRIEVAL_ONLY,
        controls.CLOSED_BOOK,
        controls.ORACLE,
        controls.ORACLE_MINUS_ONE_HOP,
        controls.GOLD_PLUS_DISTRACTORS,
    )
}


def strategy_names(plugins: Iterable[EntryPoint] | None = None) -> tuple[str, ...]:
    """All known names, those of plugins included. No plugin is imported.

    `plugins`: entry points to consider beside the table; None = those of the installed packages.
    """
    return tuple(sorted({*STRATEGIES, *(point.name for point in _plugins(plugins))}))


def find_strategy(name: str, plugins: Iterable[EntryPoint] | None = None) -> StrategySpec:
    """The spec of that name; a plugin's is imported now. `plugins`: see `strategy_names`.

    Raises:
        UnknownNameError: there is none.
        ConfigError: a plugin of that name cannot be imported, or is not a `StrategySpec` of that name.
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    offered = _plugins(plugins)
    for point in offered:
        if point.name != name:
            continue
        try:
            spec = point.load()
        except Exception as error:
            raise ConfigError(f"strategy {name!r} of {point.value!r} cannot be imported: {error!r}") from error
        if not isinstance(spec, StrategySpec):
            raise ConfigError(f"strategy {name!r}: {point.value!r} is a {type(spec).__name__}, not a StrategySpec")
        if spec.name != name:
            raise ConfigError(
                f"strategy {name!r}: {point.value!r} calls itself {spec.name!r}; "
                "name the entry point as the spec names itself"
            )
        return spec
    raise UnknownNameError("strategy", name, strategy_names(offered))


def _plugins(plugins: Iterable[EntryPoint] | None) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=ENTRY_POINTS) if plugins is None else plugins)


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
        problems = setting_problems(error, lambda _: spec.params.model_fields)
        raise ConfigError(f"strategy {entry!r}: {problems}") from None


def _scalar(text: str, entry: str) -> Any:
    try:
        return parse_yaml(text)
    except ConfigError:
        raise ConfigError(f"strategy {entry!r}: the value {text!r} cannot be read; quote it in a config file") from None
