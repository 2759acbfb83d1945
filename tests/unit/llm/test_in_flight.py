"""An error that stops the run waits for the requests that are being paid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest

from arena.config import LLMSettings
from arena.errors import BudgetError, ModelSetupError, UserError
from arena.llm.cache import ReplyCache
from arena.llm.client import InFlight, LLMClient
from arena.llm.limits import Budget
from arena.protocols import Message
from arena.types import LLMCall
from tests.unit.llm.asking import asking, scripted, with_model
from tests.virtual_time import in_virtual_time


def handed_out(folder: Path) -> int:
    """Requests that the fake answered."""
    return len((folder / "tally.jsonl").read_text().splitlines())


def stopped_by(model: LLMSettings, prompts: Sequence[str], **options: Any) -> UserError:
    """What ends a run whose questions are asked at once, the way the runner ends it: the rest is cancelled."""
    found: list[UserError] = []

    async def use(model: LLMClient) -> None:
        async def question(prompt: str, group: anyio.abc.TaskGroup) -> None:
            try:
                for sample in range(5):
                    await model.complete(asking([Message("user", prompt)], sample=sample))
            except UserError as error:
                found.append(error)
                group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            for prompt in prompts:
                group.start_soon(question, prompt, group)

    with_model(model, use, **options)
    return found[0]


def latencies(**seconds: float) -> list[dict[str, Any]]:
    return [{"when": word, "reply": "ok", "latency_seconds": wait} for word, wait in seconds.items()]


def test_a_spent_budget_loses_no_reply_that_is_being_paid(tmp_path: Path) -> None:
    model = scripted(tmp_path, {"tally": "tally.jsonl", "rules": latencies(quick=0.0, slow=0.2)}, cache=True)
    budget = Budget(None, 1)
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        error = stopped_by(model, ["quick", "slow"], cache=cache, budget=budget)
        assert isinstance(error, BudgetError)
        lines = [json.loads(line) for line in (tmp_path / "tally.jsonl").read_text().splitlines()]
        assert len(lines) == 2
        assert f"has spent {budget.spent.tokens} tokens" in str(error)
        assert budget.spent.tokens == sum(line["input_tokens"] + line["output_tokens"] for line in lines)

        async def again(model: LLMClient) -> bool:
            return (await model.complete(asking([Message("user", "slow")]))).call.replayed

        assert with_model(model, again, cache=cache)


def test_a_call_that_has_begun_is_tried_again_when_the_budget_is_spent(tmp_path: Path) -> None:
    again: dict[str, Any] = {"when": "again", "error": 503, "latency_seconds": 0.1, "times": 1}
    model = scripted(tmp_path, {"tally": "tally.jsonl", "rules": [again]}, cache=True)
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        assert isinstance(stopped_by(model, ["quick", "again"], cache=cache, budget=Budget(None, 1)), BudgetError)
        assert handed_out(tmp_path) == 3

        async def replayed(model: LLMClient) -> LLMCall:
            return (await model.complete(asking([Message("user", "again")]))).call

        assert [attempt.fault is None for attempt in with_model(model, replayed, cache=cache).attempts] == [False, True]


def test_the_budget_is_asked_after_the_wait_for_a_slot(tmp_path: Path) -> None:
    model = scripted(tmp_path, {"tally": "tally.jsonl", "latency_seconds": 0.01}, concurrency=1)
    assert isinstance(stopped_by(model, [f"prompt {n}" for n in range(9)], budget=Budget(None, 1)), BudgetError)
    assert handed_out(tmp_path) == 1


def test_a_refused_key_lets_the_others_end_and_none_begin(tmp_path: Path) -> None:
    rules = [{"when": "refused", "error": 401}, *latencies(slow=0.1)]
    model = scripted(tmp_path, {"tally": "tally.jsonl", "rules": rules})
    error = stopped_by(model, ["slow a", "refused", "slow b"])
    assert isinstance(error, ModelSetupError)
    assert handed_out(tmp_path) == 3


def test_a_request_that_is_given_up_is_under_way_no_more() -> None:
    async def run() -> None:
        in_flight = InFlight()
        await in_flight.none()

        async def given_up() -> None:
            with in_flight.one():
                await anyio.sleep_forever()

        async with anyio.create_task_group() as group:
            group.start_soon(given_up)
            await anyio.sleep(0)
            group.cancel_scope.cancel()
        with anyio.fail_after(1), in_flight.one(), pytest.raises(TimeoutError), anyio.fail_after(0.01):
            await in_flight.none()
        with anyio.fail_after(1):
            await in_flight.none()

    in_virtual_time(run)
