"""Work of a reranker that belongs to the passages, not to the query it was done for."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from arena.protocols import Reranker


@runtime_checkable
class EncodesPassages(Protocol):
    """A reranker that encodes passages apart from queries, on first use, and keeps what it made."""

    @property
    def passage_seconds(self) -> float:
        """Seconds spent so far, inside `score`, on encoding passages; never falls."""
        ...


def seconds_on_passages(reranker: Reranker) -> float:
    """Seconds this reranker has spent so far on passages alone; 0 for one that reads pairs."""
    return reranker.passage_seconds if isinstance(reranker, EncodesPassages) else 0.0
