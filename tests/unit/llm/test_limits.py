from __future__ import annotations

import asyncio
from pathlib import Path

import anyio
import pytest

from arena.llm.limits import RateLimits, estimated_tokens
from arena.llm.opening import open_model
from arena.protocols import Message, Reply
from tests.unit.llm.asking import ask_at_once, asking, no_weights, scripted
from tests.virtual_time import in_virtual_time


def starts(limits: RateLimits, *amounts: int, used: int | None = None) -> list[float]:
    """When requests for `amounts` tokens, all made at once, could be sent; each is settled on being sent."""
    sent: dict[int, float] = {}

    async def one(place: int, amount: int) -> None:
        await limits.reserve(amount)
        sent[place] = asyncio.get_running_loop().time()
        limits.settle(amount, used)

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for place, amount in enumerate(amounts):
                group.start_soon(one, place, amount)

    in_virtual_time(all_at_once)
    return [sent[place] for place in sorted(sent)]


def test_without_limits_nobody_waits() -> None:
    assert starts(RateLimits(None, None), *[10**9] * 3) == [0.0, 0.0, 0.0]


def test_requests_are_evenly_spaced() -> None:
    assert starts(RateLimits(120, None), *[0] * 5) == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0])


def test_less_than_one_request_a_minute() -> None:
    assert starts(RateLimits(0.5, None), 0, 0) == pytest.approx([0.0, 120.0])


def test_tokens_flow_from_a_bucket_of_one_minute() -> None:
    assert starts(RateLimits(None, 600), 300, 300, 100, 200) == pytest.approx([0.0, 0.0, 10.0, 30.0])


def test_the_large_are_not_overtaken_by_the_small() -> None:
    assert starts(RateLimits(None, 600), 600, 600, 1, 1) == pytest.approx([0.0, 60.0, 60.1, 60.2])


def test_more_than_a_minute_holds_is_sent_and_made_up_for() -> None:
    assert starts(RateLimits(None, 600), 1, 1_500, 1) == pytest.approx([0.0, 0.1, 60.1])
    assert starts(RateLimits(None, 600), 1_500, 1, 1, 1) == pytest.approx([0.0, 60.0, 90.2, 90.3])


def test_what_was_not_used_is_given_back() -> None:
    assert starts(RateLimits(None, 600), *[600] * 4, used=60) == pytest.approx([0.0, 6.0, 12.0, 18.0])


def test_what_was_used_beyond_the_estimate_is_made_up_for() -> None:
    assert starts(RateLimits(None, 600), 0, 0, 0, used=600) == pytest.approx([0.0, 0.0, 60.0])


def test_an_unknown_usage_leaves_the_estimate() -> None:
    assert starts(RateLimits(None, 600), 600, 600, used=None) == pytest.approx([0.0, 60.0])


def test_an_estimate_has_every_turn_and_knows_scripts() -> None:
    assert estimated_tokens("x" * 40) == 14 + 8
    assert estimated_tokens([Message("system", "x" * 40), Message("user", "x" * 8)]) == 14 + 3 + 16
    assert estimated_tokens("\u5927\u962a" * 50) == 100 + 8
    assert estimated_tokens("\ud800") == 1 + 8


def test_waiting_for_a_limit_is_queueing(tmp_path: Path) -> None:
    settings = scripted(tmp_path, {"latency_seconds": 0.5}, requests_per_minute=30, concurrency=4)

    async def use() -> list[Reply]:
        now = asyncio.get_running_loop().time
        async with open_model(settings, weights=no_weights, clock=now) as model:
            return await ask_at_once(model, [asking()] * 3)

    calls = [reply.call for reply in in_virtual_time(use)]
    assert [call.queue_seconds for call in calls] == pytest.approx([0.0, 2.0, 4.0])
    assert [call.service_seconds for call in calls] == pytest.approx([0.5] * 3)


def test_every_attempt_counts_as_a_request(tmp_path: Path) -> None:
    script = {"rules": [{"error": 500, "times": 2}], "replies": ["late"]}
    settings = scripted(tmp_path, script, requests_per_minute=6)

    async def use() -> Reply:
        now = asyncio.get_running_loop().time
        async with open_model(settings, weights=no_weights, clock=now) as model:
            return await model.complete(asking())

    call = in_virtual_time(use).call
    assert call.queue_seconds + call.backoff_seconds == pytest.approx(20.0)
