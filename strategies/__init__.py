"""The contestants: one file, one figure. `STRATEGIES` is the table of all that ship.

Third parties add theirs through the entry point group `arena.strategies`, each naming a `StrategySpec`.
"""

from strategies.base import GraphStrategy, Params, StrategySpec
from strategies.table import ENTRY_POINTS, STRATEGIES, Variant, find_strategy, find_variant, strategy_names

__all__ = [
    "ENTRY_POINTS",
    "STRATEGIES",
    "GraphStrategy",
    "Params",
    "StrategySpec",
    "Variant",
    "find_strategy",
    "find_variant",
    "strategy_names",
]
