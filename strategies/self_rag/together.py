"""Calls that do not wait for one another."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")


async def all_of(jobs: list[Coroutine[Any, Any, A]]) -> list[A]:
    """Results in order. The first error ends the others and is raised as itself, not inside a group."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in jobs]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


async def both(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """`all_of` for two of different types."""
    one: Any
    other: Any
    one, other = await all_of([first, second])
    return one, other
