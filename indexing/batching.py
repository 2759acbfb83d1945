"""Retrievals of many questions at once, through the engine's batch query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from arena.protocols import Retriever
from arena.types import Passage, Retrieval, RetrievalRequest


class BatchRetriever(Retriever, Protocol):
    """A retriever that answers many requests in one go, as it would answer each alone."""

    async def retrieve_many(self, requests: Sequence[RetrievalRequest]) -> tuple[Retrieval, ...]: ...


class OpenRetriever(BatchRetriever, Protocol):
    """One over something that is given back at the end."""

    def close(self) -> None: ...


@dataclass(slots=True, eq=False)
class _Waiting:
    """A request in line; exactly one of the other two is set once it was served."""

    request: RetrievalRequest
    retrieval: Retrieval | None = None
    error: Exception | None = None


@dataclass(slots=True)
class Batched:
    """A `Retriever` that serves together whatever is asked while an earlier batch is under way.

    Hits are those of the inner retriever. Seconds are a share of the batch's: right for throughput, too low
    for what a lone user would wait, so it suits cells that measure evidence, not latency.
    """

    inner: BatchRetriever
    _line: list[_Waiting] = field(default_factory=list)
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        mine = _Waiting(request)
        self._line.append(mine)
        async with self._turn:
            if mine in self._line:
                batch, self._line = self._line, []
                await self._serve(batch)
        if mine.error is not None:
            raise mine.error
        assert mine.retrieval is not None
        return mine.retrieval

    def passage(self, passage_id: str) -> Passage:
        return self.inner.passage(passage_id)

    async def _serve(self, batch: Sequence[_Waiting]) -> None:
        try:
            with anyio.CancelScope(shield=True):  # the others of the batch wait for it, whoever of them is given up
                retrievals = await self.inner.retrieve_many([waiting.request for waiting in batch])
        except Exception as error:  # noqa: BLE001  whatever it is, everyone in the batch is to hear of it
            for waiting in batch:
                waiting.error = error
        else:
            for waiting, retrieval in zip(batch, retrievals, strict=True):
                waiting.retrieval = retrieval
