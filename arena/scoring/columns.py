"""A score table as the columns of scores.parquet and of questions.parquet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena.scoring.table import CellScores, ScoreTable

SCORE_TYPES: Mapping[str, type] = {"cell": str, "question_id": str, "metric": str, "value": float, "reason": str}

QUESTION_TYPES: Mapping[str, type] = {
    "cell": str,
    "question_id": str,
    "outcome": str,
    "failure": str,
    "hop": int,
    "document": str,
    "answer": str,
    "em": float,
    "f1": float,
    "recall": float,
    "input_tokens": int,
    "output_tokens": int,
    "calls": int,
    "retrievals": int,
    "seconds": float,
    "usd": float,
    "measured": bool,
    "warm_up": bool,
    "truncated": bool,
}
"""`failure`: the class of `arena.metrics.failures`; `hop`, `document`: where the evidence is first missing. `seconds`:
the latency, of unmeasured questions too. Tokens and `usd` count replayed calls; None = unknown."""

_SHORT_NAMES: Mapping[str, str] = {"answer_em": "em", "answer_f1": "f1", "retrieval_recall": "recall"}


def score_columns(table: ScoreTable) -> dict[str, Sequence[object]]:
    """A row per cell, question and metric."""
    columns: dict[str, list[object]] = {name: [] for name in SCORE_TYPES}
    adders = [columns[name].append for name in SCORE_TYPES]
    for key, question_id, score in table.rows():
        _add(adders, (key, question_id, score.metric, score.value, score.reason))
    return dict(columns)


def question_columns(table: ScoreTable) -> dict[str, Sequence[object]]:
    """A row per cell and question."""
    columns: dict[str, list[object]] = {name: [] for name in QUESTION_TYPES}
    for cell in table.cells:
        for question_id in cell.scores:
            for name, value in _question_row(cell, question_id).items():
                columns[name].append(value)
    return dict(columns)


def _question_row(cell: CellScores, question_id: str) -> dict[str, Any]:
    usage, found = cell.usage[question_id], cell.failures.get(question_id)
    spent = usage.account.whole
    named = {_SHORT_NAMES[one.metric]: one.value for one in cell.scores[question_id] if one.metric in _SHORT_NAMES}
    return {
        "cell": cell.cell.key,
        "question_id": question_id,
        "outcome": usage.outcome,
        "failure": found.failure if found else None,
        "hop": found.hop if found else None,
        "document": found.doc_id if found else None,
        "answer": cell.answers[question_id],
        **named,
        "input_tokens": spent.input_tokens.value,
        "output_tokens": spent.output_tokens.value,
        "calls": spent.calls,
        "retrievals": usage.retrievals,
        "seconds": usage.latency_seconds,
        "usd": spent.usd.value,
        "measured": usage.measured,
        "warm_up": usage.warm_up,
        "truncated": usage.truncated,
    }


def _add(adders: Sequence[Callable[[object], None]], row: Sequence[object]) -> None:
    for add, value in zip(adders, row, strict=True):
        add(value)
