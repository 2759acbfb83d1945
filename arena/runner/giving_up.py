"""Giving work up without leaving any of it running."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any, TypeVar

import anyio

from arena.errors import StrategyError

GRACE_SECONDS = 10.0
"""For what was given up to end by itself: a thread that computes, a connection that is closed."""

T = TypeVar("T")


async def to_its_end(work: Awaitable[T], grace_seconds: float = GRACE_SECONDS) -> T:
    """The result of `work`, in a task of its own; a cancelled caller gets its cancellation when `work` has ended.

    anyio cancels a task again at its every wait. Who only waits for tasks of its own to end, as LangGraph does, is cut
    short by that, and they go on asking a model that nobody pays attention to, and that is paid all the same. `work` is
    cancelled once. If it takes no notice for `grace_seconds`, it is left behind: a run must not hang.

    Raises:
        StrategyError: `work` was cancelled from within.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task}, timeout=grace_seconds)
        task.add_done_callback(_forget)
        raise
    if task.cancelled():
        raise StrategyError("it was cancelled from within, and nobody had given it up")
    return task.result()


def _forget(task: asyncio.Future[Any]) -> None:
    """Look at the error of what nobody waits for, so that asyncio does not report it."""
    with suppress(asyncio.CancelledError):
        task.exception()
