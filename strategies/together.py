"""Calls that do not wait for one another."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")


async def all_of(jobs: Sequence[Coroutine[Any, Any, A]]) -> list[A]:
    """Results in order; when all have ended, the first error in that order is raised.

    None is cut short for another's error: a call that is cancelled under way is paid for and leaves no ledger entry.
    """
    ended = await asyncio.gather(*jobs, return_exceptions=True)
    results: list[A] = []
    for each in ended:
        if isinstance(each, BaseException):
            raise each
        results.append(each)
    return results


async def both(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """`all_of` for two of different types."""
    one: Any
    other: Any
    one, other = await all_of([first, second])
    return one, other
