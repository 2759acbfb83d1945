from __future__ import annotations

import anyio
import pytest

from arena.llm.client import KeyedLock


def test_equal_keys_go_one_by_one_and_others_together() -> None:
    inside: list[str] = []
    most: dict[str, int] = {}

    async def run() -> int:
        lock = KeyedLock()

        async def one(key: str) -> None:
            async with lock.alone(key):
                inside.append(key)
                most[key] = max(most.get(key, 0), inside.count(key))
                most["all"] = max(most.get("all", 0), len(inside))
                await anyio.sleep(0)
                inside.remove(key)

        async with anyio.create_task_group() as group:
            for key in "aabbaa":
                group.start_soon(one, key)
        return len(lock)

    left = anyio.run(run)
    assert most == {"a": 1, "b": 1, "all": 2}
    assert left == 0


def test_nothing_is_left_of_who_failed_or_was_cancelled() -> None:
    async def run() -> int:
        lock = KeyedLock()
        with pytest.raises(ValueError, match="no"):
            async with lock.alone("a"):
                raise ValueError("no")

        async def wait_in_vain() -> None:
            with anyio.move_on_after(0.01):
                async with lock.alone("a"):
                    raise AssertionError("two inside")

        async with lock.alone("a"), anyio.create_task_group() as group:
            group.start_soon(wait_in_vain)
        return len(lock)

    assert anyio.run(run) == 0
