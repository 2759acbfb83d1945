"""`arena bench llm` and `arena bench strategies`: the cost of the gate to a model, and of a strategy's own machinery.

Both ask the fake model, which takes neither money nor time.
"""

from __future__ import annotations

import gc
import math
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from time import perf_counter
from typing import Any
from uuid import uuid4

import anyio
import numpy as np

from arena.config import LLMSettings, RunConfig, SampleConfig
from arena.llm.cache import ReplyCache
from arena.llm.client import LLMClient
from arena.llm.limits import Budget
from arena.llm.opening import open_model
from arena.protocols import Message, ModelRequest
from arena.runner import run_one
from arena.store.paid import open_ledger
from arena.types import RunRecord
from experiments.bench.process import (
    WARM_UP,
    Figures,
    Say,
    apart,
    efficiency,
    peak_memory_mb,
    percentiles_ms,
    scripted,
    silent,
)
from experiments.execution.contestants import with_model
from experiments.execution.equipment import fetch_weights
from experiments.execution.prepare import Prepared, prepare

CONCURRENCY = 32
LATENCY_SECONDS = 0.1
_SHOWN = "The river Tarn rises near Oster and is crossed by a bridge. " * 20


def measure_llm(
    calls: int = 2_000, memory_calls: int = 20_000, *, timed: int = 1_000, say: Say = lambda line: None
) -> Figures:
    """Time of a call, efficiency under concurrency, growth of memory.

    `overhead`: each of `timed` calls through the gate, one at a time, without the cache; `kept`: with it, for the
    first time; `replayed`: from it. `efficiency` is the ideal wall time of `calls` of 100 ms at concurrency 32 over
    the measured one. `memory_growth_mb` is what `memory_calls`, one at a time and with the cache, add to the peak of a
    process of their own. The fake's time, its LangChain model included, counts as the gate's, and so does that of the
    ledger of payments, which every attempt is written to as in a run.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        say("single calls")
        figures = anyio.run(_overhead, Path(folder), timed)
        say(f"{calls:,} calls of {1e3 * LATENCY_SECONDS:.0f} ms at concurrency {CONCURRENCY}")
        figures |= anyio.run(_efficiency, Path(folder), calls)
    say(f"memory over {memory_calls:,} calls")
    return figures | apart(memory_growth, memory_calls)


async def _overhead(folder: Path, timed: int) -> Figures:
    async with _fake(folder, None) as model:
        figures = await _timings_ms(model, timed, "overhead")
    with ReplyCache(folder / "replies.sqlite") as cache:
        async with _fake(folder, cache) as model:
            figures |= await _timings_ms(model, timed, "kept")
            figures |= await _timings_ms(model, timed, "replayed")
    return figures


async def _efficiency(folder: Path, calls: int) -> Figures:
    async with _fake(folder, None, LATENCY_SECONDS) as model:
        await model.complete(_request(-1))  # imports what a first call does
        started = perf_counter()
        async with anyio.create_task_group() as group:
            for number in range(calls):
                group.start_soon(model.complete, _request(number))
        wall = perf_counter() - started
    ideal = math.ceil(calls / CONCURRENCY) * LATENCY_SECONDS
    return {"calls": calls, "concurrency": CONCURRENCY} | efficiency(wall, ideal)


def memory_growth(calls: int) -> Figures:
    """What `calls` add to the peak of this process's memory, after a twentieth as many."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        return anyio.run(_memory, Path(folder), calls)


async def _memory(folder: Path, calls: int) -> Figures:
    with ReplyCache(folder / "replies.sqlite") as cache:
        async with _fake(folder, cache) as model:
            for number in range(-(calls // 20), 0):
                await model.complete(_request(number))
            gc.collect()
            before = peak_memory_mb()
            for number in range(calls):
                await model.complete(_request(number))
    peak = peak_memory_mb()
    return {"memory_calls": calls, "memory_growth_mb": peak - before, "peak_memory_mb": peak}


async def _timings_ms(model: LLMClient, n: int, name: str) -> Figures:
    taken = []
    for number in range(n + WARM_UP):
        started = perf_counter()
        reply = await model.complete(_request(number))
        taken.append(1e3 * (perf_counter() - started))
        assert reply.text is not None
    return percentiles_ms(taken[WARM_UP:], f"{name}_")


@asynccontextmanager
async def _fake(folder: Path, cache: ReplyCache | None, latency_seconds: float = 0.0) -> AsyncIterator[LLMClient]:
    name = scripted(folder / "script.json", {"reply": "Oster"}, latency_seconds=latency_seconds)
    settings = LLMSettings(model=name, concurrency=CONCURRENCY, cache=cache is not None)
    budget = Budget()
    with open_ledger(folder / f"{uuid4().hex}.jsonl", "bench") as ledger, budget.written_ahead(ledger.enter):
        async with open_model(settings, weights=_no_weights, cache=cache, budget=budget) as model:
            yield model


def _no_weights(name: str) -> Path:
    raise AssertionError(f"the fake has no weights of {name!r}")


def _request(number: int) -> ModelRequest:
    """A prompt of the length of a strategy's, another one for each number."""
    asked = f"<passages>\n[1] Tarn: {_SHOWN}\n</passages>\nQuestion: Where does river {number} rise?\nAnswer:"
    return ModelRequest((Message("system", "Answer from the passages."), Message("user", asked)), "generate")


CONTESTANTS = ("vanilla", "corrective", "ircot", "self_rag", "self_rag:mode=long:max_depth=2")
"""The last: two beams, two levels, five passages each."""

_ENDLESS = {"when": "Next sentence:", "reply": "Oster lies on the river Tarn."}
"""A chain of thought that never comes to an answer, so that IRCoT takes all of its steps."""


def measure_strategies(questions: int = 30, *, say: Say = lambda line: None) -> dict[str, Any]:
    """Milliseconds a question in mode hybrid over the bundled world, one question at a time, after a first round.

    `p50_ms` is all of it: graph, gate, ledger, embedded retrieval. `without_embedding_p50_ms` leaves out the time in
    which queries became vectors, which depends on the embedding model alone.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        config = RunConfig(
            strategies=CONTESTANTS,
            modes=("hybrid",),
            llm=LLMSettings(model=scripted(Path(folder) / "script.json", _ENDLESS), max_tokens=64),
            sample=SampleConfig(limit=questions, balance="even"),
            concurrency=1,
            mlflow=False,
        )
        with closing(prepare(config, silent())) as prepared:
            trials = anyio.run(_trials, prepared, say)
    return {"questions": questions, "k": config.retrieval.k, "trials": trials}


async def _trials(prepared: Prepared, say: Say) -> list[dict[str, Any]]:
    assert prepared.equipment is not None, "every contestant retrieves"
    trials = []
    async with open_model(prepared.config.llm, weights=lambda name: fetch_weights(name, silent())) as model:
        competing = with_model(prepared.contestants, model)
        for name, contestant in zip(CONTESTANTS, competing, strict=True):
            say(name)
            first = [await run_one(contestant, question) for question in contestant.questions]
            again = [await run_one(contestant, question) for question in contestant.questions]
            failed = sum(record.failure is not None for record in first + again)
            trials.append({"engine": name, "points": "", **_figures(again), "failed": failed})
    return trials


def _figures(records: Sequence[RunRecord]) -> Figures:
    walls = [1e3 * record.wall_seconds for record in records]
    embeds = [1e3 * sum(retrieval.seconds.embed for retrieval in record.retrievals) for record in records]
    return {
        **percentiles_ms(walls),
        "without_embedding_p50_ms": float(np.median(np.subtract(walls, embeds))),
        "model_calls_mean": float(np.mean([len(record.calls) for record in records])),
        "retrievals_mean": float(np.mean([len(record.retrievals) for record in records])),
    }
