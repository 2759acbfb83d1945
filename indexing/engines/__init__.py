"""Vector engines: places that hold both lanes of every passage and rank passages for a query."""

from __future__ import annotations

from collections.abc import Mapping

from indexing.engines.collection import Engine
from indexing.engines.edge import EdgeEngine
from indexing.engines.server import ServerEngine

__all__ = ["ENGINES", "Engine"]

ENGINES: Mapping[str, type[Engine]] = {"edge": EdgeEngine, "server": ServerEngine}
