"""Tags: what one filters runs by on MLflow's pages, and what finds a copy again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arena.leaderboard.build import CellSummary
from arena.leaderboard.validity import ValidityWarning, concerning
from arena.report.console import render_markdown
from arena.report.names import setting_of
from arena.tracking.copies import PARENT_TAG, RUN_TAG
from arena.tracking.finished import FinishedRun
from arena.tracking.names import run_name

_TAG_CHARS = 5_000


def run_tags(run: FinishedRun) -> Mapping[str, str]:
    """Of the parent. Its description is the leaderboard."""
    git = run.manifest.get("git") or {}
    valid = all(_is_valid(cell) for cell in run.board.cells)
    return _shared(run) | {
        "mlflow.runName": run.store.run_id,
        "mlflow.source.name": "arena track",
        "mlflow.source.type": "LOCAL",
        "mlflow.note.content": render_markdown(run.board)[:_TAG_CHARS],
        "kind": "run",
        "valid": _word(valid),
        "warnings": warning_codes(run.board.all_warnings),
        **({"mlflow.source.git.commit": str(git["commit"])} if git.get("commit") else {}),
    }


def cell_tags(run: FinishedRun, cell: CellSummary, parent_id: str) -> Mapping[str, str]:
    """Of a child. Its name tells namesakes apart.

    Its description says what limits it, and what its figures are symptoms of.
    """
    limits = concerning(run.board.all_warnings, cell.cell)
    notes = [f"{one.message[0].upper()}{one.message[1:]}." for one in limits]
    notes += [f"{symptom.reading} Where to act: {symptom.where_to_act}" for symptom in cell.diagnosis]
    return _shared(run) | {
        PARENT_TAG: parent_id,
        "mlflow.runName": run_name(cell.strategy, cell.retrieval_mode, setting_of(cell, run.board.cells)),
        "mlflow.note.content": "\n\n".join(notes)[:_TAG_CHARS],
        "kind": "cell",
        "strategy": cell.strategy,
        "retrieval_mode": cell.retrieval_mode,
        "llm": cell.llm or "none",
        "tier": cell.fidelity_tier or "none",
        "cell": cell.cell,
        "warnings": warning_codes(limits),
        "valid": _word(_is_valid(cell)),
        "invalid_metrics": ", ".join(finding.metric for finding in cell.guards if finding.metric),
    }


def warning_codes(warnings: Iterable[ValidityWarning]) -> str:
    """The codes of validity warnings, each once, as one tag; empty where there are none."""
    return ", ".join(dict.fromkeys(one.code for one in warnings))


def _shared(run: FinishedRun) -> dict[str, str]:
    return {
        RUN_TAG: run.key,
        "run_id": run.store.run_id,
        "dataset": run.board.dataset.name,
        "fingerprint": run.board.fingerprint,
    }


def _is_valid(cell: CellSummary) -> bool:
    """Whether the cell as a whole is; a metric of it may still not be."""
    return all(finding.metric is not None for finding in cell.guards)


def _word(truth: bool) -> str:
    return "true" if truth else "false"
