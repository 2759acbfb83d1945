"""All contestants at once, over the product's own fake model: the records are the same at any concurrency.

And each alone over a slow one, given up in the middle: nothing of it asks on.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from arena.config import LLMSettings
from arena.llm.opening import open_model
from arena.protocols import ModelRequest, Reply
from arena.runner import Contestant, run, run_one
from arena.store import key_of
from arena.types import Retrieval, RetrievalRequest, RetrievalSeconds, RunRecord
from tests.contract.contestants import ENTRIES, VARIANTS, reads_tokens, writing
from tests.contract.parrot_model import ParrotModel, contestant
from tests.contract.shelf import QUESTION, ShelfRetriever
from tests.samples import QUESTIONS as ALL_KINDS
from tests.unit.contestants import into
from tests.virtual_time import in_virtual_time

QUESTIONS = (ALL_KINDS[0], ALL_KINDS[3], ALL_KINDS[4])  # multi-hop, summary, unanswerable


class SlowShelf(ShelfRetriever):
    """Takes a different number of turns of the event loop for each retrieval."""

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        for _ in range(random.Random(f"{len(self.asked)} {request.query}").randrange(9)):
            await anyio.lowlevel.checkpoint()
        return await super().retrieve(request)


def no_weights(name: str) -> Path:
    raise AssertionError(f"the fake needs no weights, and asked for {name!r}")


def timeless(record: RunRecord) -> RunRecord:
    """The record without its seconds."""
    return replace(
        record,
        wall_seconds=0.0,
        retrievals=tuple(replace(retrieval, seconds=RetrievalSeconds()) for retrieval in record.retrievals),
        calls=tuple(
            replace(
                call,
                started_seconds=None,
                backoff_seconds=0.0,
                attempts=tuple(replace(one, queue_seconds=0.0, service_seconds=0.0) for one in call.attempts),
            )
            for call in record.calls
        ),
    )


async def play(concurrency: int) -> list[RunRecord]:
    """Every contestant that a chat model serves, on every question."""
    kept: list[RunRecord] = []
    settings = LLMSettings(model="fake:", concurrency=concurrency)
    async with open_model(settings, weights=no_weights) as model:
        entrants: list[Contestant] = [
            replace(contestant(entry, model), questions=QUESTIONS, evidence=SlowShelf())
            for entry in ENTRIES
            if not reads_tokens(VARIANTS[entry])
        ]
        await run(entrants, done=set(), keep=into(kept), concurrency=concurrency)
    return sorted(map(timeless, kept), key=key_of)


@pytest.fixture(scope="module")
def alone() -> list[RunRecord]:
    return anyio.run(play, 1)


def test_the_fake_serves_every_contestant(alone: list[RunRecord]) -> None:
    assert len(alone) == len(QUESTIONS) * sum(not reads_tokens(variant) for variant in VARIANTS.values())
    assert {record.cell.strategy for record in alone} == {variant.spec.name for variant in VARIANTS.values()}
    assert [(record.cell.params["entry"], record.failure) for record in alone if record.failure] == []


def test_records_are_the_same_at_any_concurrency(alone: list[RunRecord]) -> None:
    crowded = anyio.run(play, 8)
    different = [one.cell.params["entry"] for one, other in zip(alone, crowded, strict=True) if one != other]
    assert not different


@dataclass
class SlowParrot(ParrotModel):
    """Takes a second for each call, and notes when it is asked."""

    asked: list[str] = field(default_factory=list)

    async def complete(self, request: ModelRequest) -> Reply:
        self.asked.append(request.role)
        await anyio.sleep(1)
        return await super().complete(request)


@writing
@pytest.mark.parametrize("seconds", [0.5, 1.5, 2.5])
def test_what_is_given_up_asks_no_more_at_any_depth_of_its_graph(entry: str, seconds: float) -> None:
    async def main() -> None:
        for stopped_from_outside in (False, True):
            model = SlowParrot()
            work = run_one(
                contestant(entry, model), QUESTION, timeout_seconds=None if stopped_from_outside else seconds
            )
            task = asyncio.ensure_future(work)
            await asyncio.wait({task}, timeout=seconds if stopped_from_outside else None)
            task.cancel()
            await asyncio.wait({task})
            asked = len(model.asked)
            assert asyncio.all_tasks() == {asyncio.current_task()}
            await anyio.sleep(60)
            assert len(model.asked) == asked
            assert stopped_from_outside or len(task.result().calls) == asked

    in_virtual_time(main)
