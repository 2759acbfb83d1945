"""Vector engines: places that hold both lanes of every passage and rank passages for a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self

from arena.protocols import Embedding, SparseVector, Vectors
from indexing.engines.edge import EdgeEngine
from indexing.engines.ranking import EngineSettings, Ranking
from indexing.engines.server import ServerEngine


class Engine(Protocol):
    """One collection of points; a point is a passage's position with its dense and its sparse vector.

    Optionally with its token vectors too, for late interaction. Filled once, then only read, by any number of
    threads. Rankings follow the total order of `indexing.engines.ranking`, and compare every point unless the
    settings choose HNSW. Queries go in batches; an answer does not depend on what else is in its batch.
    """

    @staticmethod
    def version() -> str:
        """Version of the engine's library; another version may not read the same files."""
        ...

    @classmethod
    def create(
        cls,
        folder: Path,
        dimension: int,
        *,
        idf: bool = True,
        multi_dimension: int | None = None,
        distance: str = "cosine",
        settings: EngineSettings | None = None,
    ) -> Self:
        """An empty collection, in a folder that does not exist yet or, for a server, known to that folder.

        `idf`: whether the engine weights terms by their rarity (BM25 wants it, learned term weights do not).
        `multi_dimension`: width of the token vectors; None stores none. `distance`: of dense vectors, `cosine` or
        `dot`.
        """
        ...

    @classmethod
    def load(cls, folder: Path, *, settings: EngineSettings | None = None) -> Self:
        """The collection of `folder`, for reading.

        Raises `OSError` when there is none that can be read, `ConfigError` when a server does not answer or refuses
        the key, `IndexMismatchError` when it holds something else.
        """
        ...

    @classmethod
    def discard(cls, folder: Path, *, settings: EngineSettings | None = None) -> None:
        """Delete what the collection of `folder` keeps outside of it; the folder itself stays."""
        ...

    def add(self, positions: Sequence[int], embedding: Embedding) -> None:
        """Store points, durably after `flush`; token vectors where the collection was created for them.

        Raises `ValueError` on a vector that is not finite or of another width, `OSError` when they cannot be stored.
        """
        ...

    def flush(self) -> None:
        """Make everything added durable and, where the settings want one, build the HNSW graph."""
        ...

    def close(self) -> None: ...

    def count(self) -> int:
        """Number of points."""
        ...

    def dense(self, queries: Vectors, limit: int) -> list[Ranking]:
        """The `limit` passages of highest cosine, or inner product, for each row of `queries` (n, d)."""
        ...

    def own_score(self, vector: Vectors) -> float:
        """What a stored dense vector (d,) scores against itself."""
        ...

    def hybrid(
        self,
        dense: Vectors,
        sparse: Sequence[SparseVector],
        *,
        depth: int,
        rrf_k: int = ...,
        weights: tuple[float, float] | None = None,
        fusion: str = "rrf",
    ) -> list[Ranking]:
        """Both lanes to `depth`, fused inside the engine; at most 2 * depth passages.

        See `indexing.engines.ranking.Fusion` for the settings. The sparse lane holds what scores above 0 in it:
        nothing, for an empty sparse vector.
        """
        ...

    def maxsim(self, query: Vectors, positions: Sequence[int]) -> list[float]:
        """Late interaction (Khattab and Zaharia, 2020) of a query's token vectors with those of some passages.

        The sum over the rows of `query` (tokens, d') of their highest cosine with any token of the passage, one
        score for each position. Raises `ValueError` for a passage stored without token vectors.
        """
        ...

    def measure_recall(self, queries: Vectors, k: int) -> float:
        """Share of the true k nearest that `dense` finds, over all `queries`, in [0, 1]; 1 for exact search.

        A query that is itself a stored vector is asked for its k nearest others: finding itself is no merit.
        Raises `ValueError` where there is no query or no point.
        """
        ...


ENGINES: Mapping[str, type[Engine]] = {"edge": EdgeEngine, "server": ServerEngine}
