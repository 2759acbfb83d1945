"""One at a time for each key: of equal calls, one is made and the others wait for what it brings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio


@dataclass(slots=True)
class _Place:
    lock: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))
    claims: int = 0


class KeyedLock:
    """A lock for each key, kept only while somebody holds it or waits for it."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}

    def __len__(self) -> int:
        return len(self._places)

    @asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        """Nobody else is inside with the same key."""
        place = self._places.setdefault(key, _Place())
        place.claims += 1
        try:
            async with place.lock:
                yield
        finally:
            place.claims -= 1
            if not place.claims:
                del self._places[key]
