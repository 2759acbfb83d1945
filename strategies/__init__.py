"""The contestants: one file, one figure. `STRATEGIES` is the table of all that ship.

Third parties add theirs through the entry point group `arena.strategies`, each naming a `StrategySpec`.
"""

from strategies.base import GraphStrategy, StrategySpec
from strategies.params import Params
from strategies.table import ENTRY_POINTS, STRATEGIES, find_strategy, strategy_names
from strategies.variants import Variant, find_variant

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
