"""The contestants: one file, one figure. `STRATEGIES` is the table of all that ship.

Third parties add theirs through the entry point group `arena.strategies`, each naming a `StrategySpec`.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from arena.errors import ConfigError, UnknownNameError
from strategies import controls, vanilla
from strategies.base import StrategySpec

__all__ = ["ENTRY_POINTS", "STRATEGIES", "StrategySpec", "find_strategy", "strategy_names"]

ENTRY_POINTS = "arena.strategies"

STRATEGIES: dict[str, StrategySpec] = {
    spec.name: spec for spec in (vanilla.VANILLA, controls.RETRIEVAL_ONLY, controls.CLOSED_BOOK, controls.ORACLE)
}


def strategy_names() -> tuple[str, ...]:
    """All known names, those of installed plugins included."""
    return tuple(sorted({*STRATEGIES, *(point.name for point in entry_points(group=ENTRY_POINTS))}))


def find_strategy(name: str) -> StrategySpec:
    """The spec of that name.

    Raises:
        UnknownNameError: there is none.
        ConfigError: a plugin of that name cannot be imported or is not a `StrategySpec`.
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    for point in entry_points(group=ENTRY_POINTS, name=name):
        try:
            spec = point.load()
        except Exception as error:
            raise ConfigError(f"strategy {name!r} of {point.value!r} cannot be imported: {error!r}") from error
        if not isinstance(spec, StrategySpec):
            raise ConfigError(f"strategy {name!r}: {point.value!r} is a {type(spec).__name__}, not a StrategySpec")
        return spec
    raise UnknownNameError("strategy", name, strategy_names())
