"""Vector engines: places that hold both lanes of every passage and rank passages for a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, Self

from arena.protocols import Embedding, SparseVector, Vectors
from indexing.engines.edge import EdgeEngine
from indexing.engines.ranking import Ranking


class Engine(Protocol):
    """One collection of points; a point is a passage's position with its dense and its sparse vector.

    Filled once, then only read, by any number of threads. Rankings are exact (every point is compared) and
    follow the total order of `indexing.engines.ranking`. Queries go in batches; an answer does not
    depend on what else is in its batch.
    """

    @staticmethod
    def version() -> str:
        """Version of the engine's library; another version may not read the same files."""
        ...

    @classmethod
    def create(cls, folder: Path, dimension: int) -> Self:
        """An empty collection in a folder that does not exist yet."""
        ...

    @classmethod
    def load(cls, folder: Path) -> Self:
        """The collection in `folder`, for reading. Raises `OSError` when there is none that can be read."""
        ...

    def add(self, positions: Sequence[int], embedding: Embedding) -> None:
        """Store points, durably after `flush`.

        Raises `ValueError` on a vector that is not finite, `OSError` when they cannot be stored.
        """
        ...

    def flush(self) -> None:
        """Make everything added durable."""
        ...

    def close(self) -> None: ...

    def count(self) -> int:
        """Number of points."""
        ...

    def dense(self, queries: Vectors, limit: int) -> list[Ranking]:
        """The `limit` passages of highest cosine for each row of `queries` (n, d)."""
        ...

    def hybrid(self, dense: Vectors, sparse: Sequence[SparseVector], *, depth: int, rrf_k: int) -> list[Ranking]:
        """Both lanes to `depth`, fused by reciprocal ranks inside the engine; at most 2 * depth passages.

        An empty sparse vector has an empty sparse lane.
        """
        ...


ENGINES: Mapping[str, type[Engine]] = {"edge": EdgeEngine}
