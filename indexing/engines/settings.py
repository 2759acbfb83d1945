"""Which engine holds an index, where, and how it searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from arena.errors import ConfigError, UnknownNameError
from arena.network import address_without_secret

EXACT_LIMIT = 200_000
"""Points up to which `auto` compares every one of them: a benchmark must not measure the noise of a graph."""
MEMORY = ":memory:"
KINDS: Mapping[str, str] = {
    "edge": "Qdrant inside this process, files in the index's folder",
    "server": "Qdrant through its client: a URL, a local path or memory",
}
SEARCHES: Mapping[str, str] = {
    "auto": f"exact up to {EXACT_LIMIT:,} points, hnsw above",
    "exact": "every point is compared",
    "hnsw": "a graph of near neighbours (Malkov and Yashunin, 2018): approximate, of which recall is measured",
}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Everything an engine is opened with.

    `url`, `api_key` and `path` are for `server`: the server at a URL; else Qdrant's local mode in the folder `path`,
    or in memory for `:memory:`; else local mode inside the index's own folder. `hnsw_m`: edges a node of the graph
    has; `hnsw_ef_construct`, `hnsw_ef`: candidates kept while a node is inserted and while a query is answered.
    """

    kind: str = "edge"
    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    path: str | None = None
    search: Literal["auto", "exact", "hnsw"] = "auto"
    hnsw_m: int = 16
    hnsw_ef_construct: int = 128
    hnsw_ef: int = 128

    def __post_init__(self) -> None:
        """Raise `UnknownNameError` or `ConfigError` on a name or a combination that means nothing."""
        if self.kind not in KINDS:
            raise UnknownNameError("engine", self.kind, KINDS)
        if self.url:
            try:
                address_without_secret("a Qdrant url", self.url, "index.api_key_variable")
            except ValueError as error:
                raise ConfigError(str(error)) from None
        if self.search not in SEARCHES:
            raise UnknownNameError("search", self.search, SEARCHES)
        if self.kind != "server" and (self.url or self.path):
            raise ConfigError(f"a Qdrant url or path is for engine 'server', not {self.kind!r}: leave one of them out")
        if self.url and self.path:
            raise ConfigError(f"both url {self.url!r} and path {self.path!r} are set: an index is in one of them")
        for name in ("hnsw_m", "hnsw_ef_construct", "hnsw_ef"):
            if getattr(self, name) < 1:
                raise ConfigError(f"engine setting {name} must be at least 1, not {getattr(self, name)!r}")

    def uses_graph(self, points: int) -> bool:
        """Whether a collection of so many points is searched by HNSW."""
        return self.search == "hnsw" or (self.search == "auto" and points > EXACT_LIMIT)

    def identity(self, points: int) -> dict[str, str | int]:
        """What can change a hit, for a collection of so many points; where it lies cannot."""
        if not self.uses_graph(points):
            return {"search": "exact"}
        return {
            "search": "hnsw",
            "hnsw_m": self.hnsw_m,
            "hnsw_ef_construct": self.hnsw_ef_construct,
            "hnsw_ef": self.hnsw_ef,
        }
