"""A contamination-free world: fictional, seeded, of any size, and proven sound from its texts.

`make_world` goes from word tables (lexicon/) through a graph (making/) to texts. `check_world` goes back from the
texts (proof/) to facts and queries, and knows nothing of the graph.
"""

from __future__ import annotations

from arena.datasets.world.proof import check_world
from arena.datasets.world.world import BUNDLED, WorldSize, make_world

__all__ = ["BUNDLED", "WorldSize", "check_world", "make_world"]
