"""ragas' way to an embedding model: an `Embedder` of ours, and a note of every vector for the value we work out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import anyio.to_thread
import numpy as np

from arena.protocols import Embedder, Vectors


class NotedEmbedder:
    """What ragas takes for its embedding model, during one judgement.

    Every text is embedded as a query: answers and questions are compared with each other, and no side of them is the
    passage.
    """

    def __init__(self, embedder: Embedder, turn: anyio.CapacityLimiter) -> None:
        """`turn` lets one thread at a time embed."""
        self._embedder = embedder
        self._turn = turn
        self._noted: dict[str, Vectors] = {}

    async def aembed_texts(self, texts: Sequence[str], **kwargs: Any) -> list[list[float]]:
        found = await anyio.to_thread.run_sync(self._embedder.embed_queries, list(texts), limiter=self._turn)
        self._noted.update(zip(texts, found.dense, strict=True))
        return [[float(number) for number in row] for row in found.dense]

    async def aembed_text(self, text: str, **kwargs: Any) -> list[float]:
        return (await self.aembed_texts([text]))[0]

    def embed_texts(self, texts: Sequence[str], **kwargs: Any) -> list[list[float]]:
        """Part of ragas' interface; never called by what only asks asynchronously."""
        raise TypeError("the embedder is asked asynchronously: use aembed_texts")

    def embed_text(self, text: str, **kwargs: Any) -> list[float]:
        """Part of ragas' interface; never called by what only asks asynchronously."""
        raise TypeError("the embedder is asked asynchronously: use aembed_text")

    def similarity(self, one: str, other: str) -> float | None:
        """Cosine of two texts that were embedded, in [0, 1]: below 0 counts as 0. None = one of them was not."""
        if one not in self._noted or other not in self._noted:
            return None
        return min(1.0, max(0.0, float(np.dot(self._noted[one], self._noted[other]))))
