from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from strategies.nodes import all_of, both


async def failing() -> int:
    raise ValueError("one of several")


async def fine() -> int:
    return 1


async def slow(ended: list[int]) -> int:
    await anyio.lowlevel.checkpoint()
    ended.append(1)
    return 1


async def first_error() -> None:
    ended: list[int] = []
    with pytest.raises(ValueError, match="one of several"):
        await all_of([slow(ended), failing(), slow(ended)])
    assert ended == [1, 1]
    assert await both(fine(), fine()) == (1, 1)


def test_an_error_is_raised_as_itself_when_the_others_have_ended() -> None:
    anyio.run(first_error)
