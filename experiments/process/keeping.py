"""Keeping what was paid for: one line of a journal after the other, whatever is cancelled meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from arena.store.journal import JournalWriter

T = TypeVar("T")


def keeper(
    writer: JournalWriter[T], *, ahead: Callable[[], None] = lambda: None
) -> Callable[[T], Coroutine[Any, Any, None]]:
    """Appends to the journal beside the event loop, which no slow disk then holds up, and calls `ahead` before.

    Who hands in a record waits until it is on disk, and no cancellation cuts that short.
    """
    one_at_a_time = anyio.CapacityLimiter(1)

    def append(record: T) -> None:
        ahead()
        writer.append(record)

    async def keep(record: T) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(append, record, limiter=one_at_a_time)

    return keep
