"""Progress as JSON: figures unrounded, and beside each the text that a page shows."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from arena.leaderboard.schema import MetricSummary
from arena.report.figures import metric_text
from experiments.serving.progress import CellProgress, RunProgress


def run_json(run: RunProgress) -> dict[str, Any]:
    """All that is known of a run's progress."""
    whole = {name: sum(getattr(cell, name) for cell in run.cells) for name in ("failed", "abstained", "calls")}
    tokens = [cell.tokens for cell in run.cells]
    return {
        "run_id": run.run_id,
        "status": run.status,
        "dataset": run.dataset,
        "llm": run.llm,
        "started": run.started,
        "problem": run.problem,
        "warnings": list(run.warnings),
        "done": run.done,
        "planned": run.planned,
        **whole,
        "tokens": None if None in tokens else sum(one or 0 for one in tokens),
        "cells": [_cell_json(cell) for cell in run.cells],
    }


def _cell_json(cell: CellProgress) -> dict[str, Any]:
    figures = {name: _figure_json(summary) for name, summary in cell.figures.items()}
    return asdict(cell) | {"name": cell.name, "fake": cell.fake, "figures": figures}


def _figure_json(summary: MetricSummary) -> dict[str, Any]:
    return summary.model_dump(mode="json") | {"text": metric_text(summary)}
