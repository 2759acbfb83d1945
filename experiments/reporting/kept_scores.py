"""The scores of a finished run as its derived files keep them, so that a report need not score it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from arena.accounting import Account, Spend, Total
from arena.judges.judge import JudgeTally
from arena.metrics.failures import Finding
from arena.plan import Key
from arena.scoring import CellScores, ScoreTable, Usage
from arena.store import QUESTIONS, SCORES
from arena.types import Score
from experiments.run.scoring import PastRun


def kept_scores(run: PastRun, *, judged: bool) -> ScoreTable:
    """Scores, outcomes, failure classes, answers and usage of every question, cells in the order of the plan.

    What only a leaderboard is made of is not kept: decisions, controllers, calls by role, what judges' calls took. Of
    money and tokens there are the sums.

    Raises:
        RunStoreError: scores.parquet or questions.parquet is missing or damaged.
    """
    scores = _scores(run.store.read_table(SCORES))
    table = {planned.cell.key: CellScores(planned.cell) for planned in run.plan.cells}
    columns = run.store.read_table(QUESTIONS)
    for row in zip(*columns.values(), strict=True):
        question = dict(zip(columns, row, strict=True))
        key, question_id = question["cell"], question["question_id"]
        if key in table:
            cell = table[key]
            cell.scores[question_id] = scores.get((key, question_id), ())
            cell.usage[question_id] = _usage(question)
            cell.answers[question_id] = question["answer"]
            if question["failure"] is not None:
                cell.failures[question_id] = Finding(question["failure"], question["hop"], question["document"])
    return ScoreTable(tuple(cell for cell in table.values() if cell.scores), JudgeTally() if judged else None)


class _Shared(dict[tuple[Any, ...], Score]):
    """(metric, value, reason) -> the score, held once."""

    def __missing__(self, said: tuple[Any, ...]) -> Score:
        self[said] = Score(*said)
        return self[said]


def _scores(columns: Mapping[str, Sequence[Any]]) -> dict[Key, tuple[Score, ...]]:
    """(cell key, question id) -> scores, which stand together in the table."""
    places = zip(columns["cell"], columns["question_id"], strict=True)
    said = zip(columns["metric"], columns["value"], columns["reason"], strict=True)
    scores = map(_Shared().__getitem__, said)
    together = groupby(zip(places, scores, strict=True), key=itemgetter(0))
    return {place: tuple(score for _, score in group) for place, group in together}


def _usage(question: Mapping[str, Any]) -> Usage:
    spent = Spend(
        calls=question["calls"],
        attempts=question["calls"],
        input_tokens=_total(question["input_tokens"]),
        output_tokens=_total(question["output_tokens"]),
        usd=_total(question["usd"]),
    )
    return Usage(
        outcome=question["outcome"],
        latency_seconds=question["seconds"],
        measured=question["measured"],
        account=Account(paid=spent),
        retrievals=question["retrievals"],
        truncated=question["truncated"],
        warm_up=question["warm_up"],
    )


def _total(known: float | None) -> Total:
    return Total(0, 1) if known is None else Total(known)
