"""How the tests of the retriever ask it, and the reranker that they give it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import anyio

from arena.types import Passage, Retrieval, RetrievalRequest
from indexing.retriever import IndexRetriever

T = TypeVar("T")
WORDS = ("river", "ship", "guild", "harbour", "treaty", "album", "tower", "school", "bridge", "mill")
QUERIES = tuple(f"{one} of the {other}" for one in WORDS for other in WORDS)


class LengthReranker:
    """Scores a passage by the number of its words; remembers how often it was asked, and about how much."""

    identity: Mapping[str, str | int] = {"model": "length"}

    def __init__(self, default_threshold: float | None = None, factor: float = 1.0) -> None:
        self.default_threshold = default_threshold
        self.factor = factor
        self.asked: list[list[int]] = []

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        assert len(queries) == len(candidates)
        self.asked.append([len(row) for row in candidates])
        return [[words(passage) * self.factor for passage in row] for row in candidates]


def words(passage: Passage) -> int:
    return len(passage.text.split())


def ask(retriever: IndexRetriever, query: str, mode: str = "hybrid", k: int = 5, **settings: Any) -> Retrieval:
    return anyio.run(retriever.retrieve, RetrievalRequest(query, mode, k, **settings))


def at_once(calls: Sequence[Callable[[], Awaitable[T]]], concurrency: int) -> list[T]:
    results: dict[int, T] = {}

    async def main() -> None:
        limiter = anyio.CapacityLimiter(concurrency)

        async def one(number: int, call: Callable[[], Awaitable[T]]) -> None:
            async with limiter:
                results[number] = await call()

        async with anyio.create_task_group() as group:
            for number, call in enumerate(calls):
                group.start_soon(one, number, call)

    anyio.run(main)
    return [results[number] for number in range(len(calls))]
