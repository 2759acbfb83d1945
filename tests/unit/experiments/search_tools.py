"""Search tools that a config can name, and one that cannot be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio


@dataclass
class Answering:
    """Gives the same results for every query, after `seconds`."""

    results: Any
    seconds: float = 0.0
    asked: list[str] = field(default_factory=list)

    async def ainvoke(self, query: str) -> Any:
        self.asked.append(query)
        await anyio.sleep(self.seconds)
        return self.results


def two_pages() -> Answering:
    return Answering(
        [{"title": "A", "url": "u/a", "content": "alpha"}, {"title": "B", "url": "u/b", "snippet": "beta"}]
    )


def not_a_tool() -> object:
    return object()


def broken() -> Answering:
    raise RuntimeError("no key")
