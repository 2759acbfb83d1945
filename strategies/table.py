"""The table of contestants, and how those of other packages are found."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from arena.errors import ConfigError, UnknownNameError
from strategies import adaptive, controls, corrective, ircot, self_rag, vanilla
from strategies.base import StrategySpec

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
    offered = _plugins(plugins)
    if name in STRATEGIES:
        return STRATEGIES[name]
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
