"""Requests that are at the provider: whoever gives them up pays for replies that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import anyio


class UnderWay:
    """Counts requests from when they are sent to when their answer is there."""

    def __init__(self) -> None:
        self._number = 0
        self._none = anyio.Event()

    @contextmanager
    def one(self) -> Iterator[None]:
        """A request is under way."""
        self._number += 1
        try:
            yield
        finally:
            self._number -= 1
            if not self._number:
                self._none.set()
                self._none = anyio.Event()

    async def none(self) -> None:
        """Wait until no request is under way."""
        while self._number:
            await self._none.wait()
