"""A question takes as long as it takes, however many others are asked at the same time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from arena.config import LLMSettings
from arena.llm.opening import open_model
from arena.protocols import Message, RetrievalSettings, Retriever, Strategy, Tools
from arena.runner import Contestant, run
from arena.types import (
    Answer,
    Attempt,
    Cell,
    Passage,
    Question,
    Retrieval,
    RetrievalRequest,
    RetrievalSeconds,
    RunRecord,
    Task,
)
from tests.unit.llm.asking import no_weights
from tests.virtual_time import in_virtual_time

QUESTIONS = tuple(Question(f"q{number}", f"{number}?", "single_hop") for number in range(6))
SEARCH_SECONDS = 0.25
CALL_SECONDS = 1.0


@dataclass
class OneAtATime:
    """A search that one question after the other may use."""

    slot: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        async with self.slot:
            await anyio.sleep(SEARCH_SECONDS)
        return Retrieval(request, (), RetrievalSeconds(search=SEARCH_SECONDS))

    def passage(self, passage_id: str) -> Passage:
        raise AssertionError(passage_id)

    def for_question(self, question_id: str) -> Retriever:
        return self


@dataclass
class Branches:
    """Retrieves, then asks `calls` times: one after the other, or all at once beside a second retrieval."""

    calls: int
    parallel: bool

    async def attempt(self, task: Task, tools: Tools) -> Attempt:
        search = tools.settings.request(task.question)
        await tools.retriever.retrieve(search)
        async with anyio.create_task_group() as group:
            for _ in range(self.calls):
                if self.parallel:
                    group.start_soon(self._ask, tools, task)
                else:
                    await self._ask(tools, task)
            if self.parallel:
                group.start_soon(tools.retriever.retrieve, search)
        return Attempt(Answer("x", abstained=False))

    async def _ask(self, tools: Tools, task: Task) -> None:
        assert tools.writer is not None
        await tools.writer.write([Message("user", task.question)], role="generate")


def asked(folder: Path, strategy: Strategy, concurrency: int, rules: Sequence[Any] = ()) -> dict[str, RunRecord]:
    """Records of all questions, with one slot for the model and one for the search."""
    script = folder / "script.json"
    script.write_text(json.dumps({"latency_seconds": CALL_SECONDS, "rules": rules}))
    settings = LLMSettings(model=f"fake:{script}", concurrency=1)
    kept: dict[str, RunRecord] = {}

    async def keep(record: RunRecord) -> None:
        kept[record.question_id] = record

    async def use() -> None:
        now = asyncio.get_running_loop().time
        async with open_model(settings, weights=no_weights, clock=now) as model:
            cell, ask = Cell("a", "dense", "fake:"), RetrievalSettings("dense", 5)
            one = Contestant(cell, strategy, OneAtATime(), ask, model, QUESTIONS)
            await run([one], done=set(), keep=keep, concurrency=concurrency, clock=now)

    in_virtual_time(use)
    return kept


@pytest.mark.parametrize(
    ("strategy", "seconds"),
    [
        (Branches(1, parallel=False), SEARCH_SECONDS + CALL_SECONDS),
        (Branches(3, parallel=False), SEARCH_SECONDS + 3 * CALL_SECONDS),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 2, 6])
def test_one_step_after_the_other_takes_the_same_at_any_concurrency(
    tmp_path: Path, strategy: Branches, seconds: float, concurrency: int
) -> None:
    records = asked(tmp_path, strategy, concurrency)
    assert len(records) == len(QUESTIONS)
    for record in records.values():
        assert record.latency_seconds == pytest.approx(seconds)


def test_others_do_hold_a_question_up(tmp_path: Path) -> None:
    records = asked(tmp_path, Branches(3, parallel=False), concurrency=6)
    assert max(record.wall_seconds for record in records.values()) > 10 * CALL_SECONDS


def test_parallel_calls_through_one_slot_take_what_they_take_alone(tmp_path: Path) -> None:
    alone = asked(tmp_path, Branches(5, parallel=True), concurrency=1)
    for record in alone.values():
        assert record.latency_seconds == pytest.approx(record.wall_seconds) == SEARCH_SECONDS + 5 * CALL_SECONDS


@pytest.mark.parametrize("concurrency", [2, 6])
def test_parallel_calls_take_at_most_their_service_among_others(tmp_path: Path, concurrency: int) -> None:
    for record in asked(tmp_path, Branches(5, parallel=True), concurrency).values():
        service = 2 * SEARCH_SECONDS + 5 * CALL_SECONDS
        assert service - SEARCH_SECONDS - 1e-9 <= record.latency_seconds <= service + 1e-9
        assert record.latency_seconds <= record.wall_seconds + 1e-9


@pytest.mark.parametrize("concurrency", [1, 6])
def test_a_call_tried_again_costs_its_service_and_no_back_off(tmp_path: Path, concurrency: int) -> None:
    busy = [{"when": "2[?]", "error": 500, "times": 2}]
    records = asked(tmp_path, Branches(1, parallel=False), concurrency, busy)
    (call,) = records["q2"].calls
    assert len(call.attempts) == 3
    assert call.backoff_seconds >= 0.75
    assert records["q2"].latency_seconds == pytest.approx(SEARCH_SECONDS + 3 * CALL_SECONDS)
    assert records["q2"].wall_seconds >= records["q2"].latency_seconds + call.backoff_seconds - 1e-9
