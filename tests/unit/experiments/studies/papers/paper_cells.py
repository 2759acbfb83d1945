"""Cells of a leaderboard as a run with given settings would have them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena.leaderboard.build import DatasetSummary, Leaderboard
from arena.leaderboard.cells import CellSummary
from arena.plan import PlannedCell, RunPlan
from arena.store import RunStore
from arena.types import Cell


def figure(mean: float, n: int, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    return {"mean": mean, "ci_low": low, "ci_high": high, "n": n, "coverage": 1.0}


def summary(cell: Cell, metrics: Mapping[str, Any], n_questions: int, retrievals: float, **more: Any) -> CellSummary:
    """`more`: other fields of the row, such as its tier, or its figures by kind."""
    nothing = {"mean": None, "p50": None, "p95": None, "n_measured": 0}
    fields = {
        "strategy": cell.strategy,
        "retrieval_mode": cell.retrieval_mode,
        "llm": cell.llm,
        "fidelity_tier": None,
        "cell": cell.key,
        "params": dict(cell.params),
        "n_questions": n_questions,
        "n_answered": n_questions,
        "n_abstained": 0,
        "n_failed": 0,
        "n_truncated": 0,
        "metrics": dict(metrics),
        "latency_seconds": nothing,
        "tokens_per_question": {"input": 1.0, "output": 1.0},
        "llm_calls_per_question": 1.0,
        "retrievals_per_question": retrievals,
        "cost_usd_per_question": None,
        "on_pareto_front": False,
    }
    return CellSummary.model_validate(fields | more)


def board(
    dataset: str, n_documents: int, n_questions: int, *cells: CellSummary, fingerprint: str = "ds_0"
) -> Leaderboard:
    asked = DatasetSummary(name=dataset, fingerprint=fingerprint, n_documents=n_documents, n_questions=n_questions)
    return Leaderboard(run_id="made", fingerprint="run_0", dataset=asked, cells=list(cells))


def write_run(folder: Path, made: Leaderboard, *asked: PlannedCell) -> Path:
    """A finished run with that leaderboard. `asked`: its cells with the ids of their questions."""
    store = RunStore(folder)
    started, data = "2026-01-02T03:04:05+00:00", made.dataset.fingerprint
    manifest = {"status": "running", "started": started, "config": {}, "identity": {"dataset": data}}
    with store.creating(manifest, RunPlan(asked)):
        pass
    store.write_leaderboard(made.model_dump_json())
    store.write_manifest(manifest | {"status": "finished"})
    return folder
