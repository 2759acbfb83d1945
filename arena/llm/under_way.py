"""Requests, or calls, that are being paid: whoever gives them up pays for replies that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class UnderWay:
    """Counts what has begun and has not ended."""

    def __init__(self) -> None:
        self._number = 0
        self._none = anyio.Event()

    @contextmanager
    def one(self) -> Iterator[None]:
        """One more is under way."""
        self._number += 1
        try:
            yield
        finally:
            self._number -= 1
            if not self._number:
                self._none.set()
                self._none = anyio.Event()

    async def none(self) -> None:
        """Wait until nothing is under way."""
        while self._number:
            await self._none.wait()
