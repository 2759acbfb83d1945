from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import anyio
import pytest

from arena.errors import ModelCallError
from arena.llm import Ledger, LLMClient
from arena.protocols import Message
from tests.unit.llm.asking import HELLO, scripted, with_model


def say(text: str) -> Sequence[Message]:
    return (Message("user", text),)


def test_entries_keep_the_order_of_asking(tmp_path: Path) -> None:
    script = {
        "rules": [
            {"when": "slow", "reply": "tortoise", "latency_seconds": 0.05},
            {"when": "quick", "reply": "hare"},
        ]
    }

    async def use(model: LLMClient) -> tuple[Ledger, list[str]]:
        ledger = Ledger(model, lambda: 0.0)
        arrived: list[str] = []

        async def one(text: str) -> None:
            arrived.append(await ledger.write(say(text), role=text))

        async with anyio.create_task_group() as group:
            group.start_soon(one, "slow")
            group.start_soon(one, "quick")
        return ledger, arrived

    ledger, arrived = with_model(scripted(tmp_path, script), use)
    assert arrived == ["hare", "tortoise"]
    assert [call.role for call in ledger.calls] == ["slow", "quick"]


def test_a_failed_call_is_raised_and_kept(tmp_path: Path) -> None:
    async def use(model: LLMClient) -> Ledger:
        ledger = Ledger(model, lambda: 0.0)
        with pytest.raises(ModelCallError, match=r"'fake:script.json', role 'grade', after 1 attempt: HTTP 400"):
            await ledger.write(HELLO, role="grade")
        await ledger.write(HELLO, role="generate")
        return ledger

    ledger = with_model(scripted(tmp_path, {"rules": [{"error": 400, "times": 1}]}), use)
    assert [(call.role, call.error is None) for call in ledger.calls] == [("grade", False), ("generate", True)]


def test_a_new_ledger_is_empty(tmp_path: Path) -> None:
    async def use(model: LLMClient) -> Ledger:
        return Ledger(model, lambda: 0.0)

    assert with_model(scripted(tmp_path, {}), use).calls == ()


def test_a_call_is_placed_on_the_questions_clock(tmp_path: Path) -> None:
    async def use(model: LLMClient) -> Ledger:
        ledger = Ledger(model, count(7.0).__next__)
        for _ in range(2):
            await ledger.write(HELLO, role="generate")
        return ledger

    assert [call.started_seconds for call in with_model(scripted(tmp_path, {}), use).calls] == [7.0, 8.0]


def test_a_role_is_written_down_as_it_can_be(tmp_path: Path) -> None:
    async def use(model: LLMClient) -> Ledger:
        ledger = Ledger(model, lambda: 0.0)
        await ledger.write(HELLO, role="grade\ud800")
        return ledger

    assert [call.role for call in with_model(scripted(tmp_path, {}), use).calls] == ["grade?"]
