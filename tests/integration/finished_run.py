"""A finished run folder made by hand: two cells, the small dataset, records whose every figure is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from arena.config import RunConfig
from arena.datasets import load_dataset
from arena.leaderboard.build import build_leaderboard
from arena.scoring import score_records
from arena.scoring.table import QUESTION_TYPES, SCORE_TYPES, question_columns, score_columns
from arena.store import QUESTIONS, SCORES, RunStore
from arena.types import RunRecord
from tests.samples import answered, call, cell, failed

LONG_PROMPT = "Answer from the passages alone. " * 300
CELLS = (cell("vanilla"), cell("corrective"))


def small_records() -> list[RunRecord]:
    """Five questions in two cells: of each cell one fails and one answer is wrong."""
    records = []
    for of in CELLS:
        right = answered("q1", "Mirelle Ostrand", ("d1", "d2"), of=of)
        graded = replace(right, calls=(call(role="route", started_seconds=0.1), call(started_seconds=0.3)))
        records += [
            graded,
            answered("q2", "1872", ("d1",), of=of),
            failed("q3", of=of),
            answered("q4", "Tammerhold is a hill town.", ("d2",), of=of),
            answered("q5", "I do not know.", ("d2",), of=of, abstained=True),
        ]
    return records


def write_finished_run(folder: Path, data: Path, records: Sequence[RunRecord], **manifest: Any) -> RunStore:
    """A folder as a finished run leaves it. `data`: the small dataset as JSON lines."""
    store, dataset = RunStore(folder), load_dataset(f"jsonl:{data}")
    config = RunConfig(dataset=dataset.name, strategy_params={"vanilla": {"prompt": LONG_PROMPT}})
    content = {
        "status": "running",
        "started": "2026-01-02T03:04:05+00:00",
        "finished": "2026-01-02T03:05:05+00:00",
        "fingerprint": "run_0",
        "config": config.model_dump(mode="json"),
        "identity": {"dataset": dataset.fingerprint},
    }
    with store.creating(content) as writer:
        for record in records:
            writer.append(record)
    table = score_records(records, dataset)
    board = build_leaderboard(
        table, dataset, run_id=store.run_id, fingerprint="run_0", tiers={"corrective": "T1"}, seed=0
    )
    store.write_table(SCORES, score_columns(table), SCORE_TYPES)
    store.write_table(QUESTIONS, question_columns(table), QUESTION_TYPES)
    store.write_calls()
    store.write_leaderboard(board.model_dump_json(indent=2))
    store.write_manifest(content | {"status": "finished"} | manifest)
    return store
