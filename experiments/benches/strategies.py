"""`arena bench strategies`: what a strategy's own machinery costs, with a model that costs no time."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import numpy as np

from arena.config import LLMSettings, RunConfig, SampleConfig
from arena.llm import open_model
from arena.runner import run_one
from arena.types import RunRecord
from experiments.setup.compose import contestants
from experiments.setup.equipment import fetch_weights
from experiments.setup.prepared import Prepared, prepare
from experiments.terminal.console import Console
from experiments.terminal.progress import Reporter

Say = Callable[[str], None]

CONTESTANTS = ("vanilla", "corrective", "ircot", "self_rag", "self_rag:mode=long:max_depth=2")
"""The last: two beams, two levels, five passages each."""

_SCRIPT = {"rules": [{"when": "Next sentence:", "reply": "Oster lies on the river Tarn."}]}
"""A chain of thought that never comes to an answer, so that IRCoT takes all of its steps."""


def measure_strategies(questions: int = 30, *, say: Say = lambda line: None) -> dict[str, Any]:
    """Milliseconds a question in mode hybrid over the bundled world, one question at a time, after a first round.

    `p50_ms` is all of it: graph, gate, ledger, embedded retrieval. `without_embedding_p50_ms` leaves out the time in
    which queries became vectors, which depends on the embedding model alone.
    """
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps(_SCRIPT), encoding="utf-8")
        config = RunConfig(
            strategies=CONTESTANTS,
            modes=("hybrid",),
            llm=LLMSettings(model=f"fake:{script}", max_tokens=64),
            sample=SampleConfig(limit=questions, balance="even"),
            concurrency=1,
            mlflow=False,
        )
        with closing(prepare(config, Reporter(Console(stderr=True), quiet=True))) as prepared:
            trials = anyio.run(_trials, prepared, say)
    return {"questions": questions, "k": config.retrieval.k, "trials": trials}


async def _trials(prepared: Prepared, say: Say) -> list[dict[str, Any]]:
    assert prepared.equipment is not None, "every contestant retrieves"
    trials = []
    weights = Reporter(Console(stderr=True), quiet=True)
    async with open_model(prepared.config.llm, weights=lambda name: fetch_weights(name, weights)) as model:
        entrants = contestants(prepared.seats, prepared.lineup.dataset, prepared.equipment.retriever, model)
        for name, entrant in zip(CONTESTANTS, entrants, strict=True):
            say(name)
            first = [await run_one(entrant, question) for question in entrant.questions]
            again = [await run_one(entrant, question) for question in entrant.questions]
            trials.append({"engine": name, "points": "", **_figures(again, failed=_failed(first + again))})
    return trials


def _figures(records: Sequence[RunRecord], *, failed: int) -> dict[str, float | int]:
    walls = [1e3 * record.wall_seconds for record in records]
    embeds = [1e3 * sum(retrieval.seconds.embed for retrieval in record.retrievals) for record in records]
    p50, p95 = np.percentile(walls, [50, 95]).tolist()
    return {
        "p50_ms": p50,
        "p95_ms": p95,
        "without_embedding_p50_ms": float(np.median(np.subtract(walls, embeds))),
        "model_calls_mean": float(np.mean([len(record.calls) for record in records])),
        "retrievals_mean": float(np.mean([len(record.retrievals) for record in records])),
        "failed": failed,
    }


def _failed(records: Sequence[RunRecord]) -> int:
    return sum(record.failure is not None for record in records)
