"""An event loop in which nobody waits: when all sleep, time jumps to the first who wakes."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")
_Ready = list[tuple[selectors.SelectorKey, int]]


class _JumpingSelector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> _Ready:
        ready: _Ready = super().select(0 if timeout else timeout)
        if not ready and timeout:
            self.now += timeout
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Its `time()` starts at 0 and passes in sleeps alone. No threads: nothing would wait for them."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def in_virtual_time(use: Callable[[], Awaitable[T]]) -> T:
    """What `use` returns, run without waiting for any sleep."""
    return anyio.run(use, backend_options={"loop_factory": VirtualTimeLoop})
