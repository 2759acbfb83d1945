"""Per question, what a curve is made of: scores and tokens of every cell of a point, out of its derived tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from arena.leaderboard.metrics import Ids
from arena.statistics.intervals import Values
from arena.store import QUESTIONS, SCORES, RunStore

TOKENS = "tokens"
"""Name of the column of input and output tokens."""


def question_values(store: RunStore, metrics: tuple[str, ...]) -> dict[tuple[str, str], tuple[Ids, Values]]:
    """(Cell key, metric or `TOKENS`) -> ids of the questions, sorted, and a value for each, NaN = none."""
    scores = store.read_table(SCORES, ["cell", "question_id", "metric", "value"])
    found: dict[tuple[str, str], dict[str, float]] = {}
    columns = (scores[name] for name in ("cell", "question_id", "metric", "value"))
    for cell, question_id, metric, value in zip(*columns, strict=True):
        if metric in metrics:
            found.setdefault((cell, metric), {})[question_id] = np.nan if value is None else value
    found |= _tokens(store)
    return {key: _sorted(values) for key, values in found.items()}


def _tokens(store: RunStore) -> dict[tuple[str, str], dict[str, float]]:
    asked = store.read_table(QUESTIONS, ["cell", "question_id", "input_tokens", "output_tokens"])
    columns = (asked[name] for name in ("cell", "question_id", "input_tokens", "output_tokens"))
    found: dict[tuple[str, str], dict[str, float]] = {}
    for cell, question_id, read, written in zip(*columns, strict=True):
        spent = np.nan if read is None or written is None else float(read + written)
        found.setdefault((cell, TOKENS), {})[question_id] = spent
    return found


def _sorted(values: Mapping[str, float]) -> tuple[Ids, Values]:
    ids = tuple(sorted(values))
    return ids, np.array([values[one] for one in ids], dtype=np.float64)
