"""The answers of a cell against the gold of other questions of the same kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from arena.metrics.gaps import CROSSED, cross_scores
from arena.report.score_columns import ScoreColumns
from arena.scoring import CellScores
from arena.statistics.significance import Crossed, deal
from arena.types import KINDS, Gold, Question

_BLOCK = 500
"""Most questions whose answers are held against each other: what it costs grows with the square of it."""


def cross_questions(
    cell: CellScores,
    columns: ScoreColumns,
    questions: Sequence[Question],
    gold: Mapping[str, Gold],
    metric: str,
    seed: int,
) -> list[Crossed]:
    """Blocks of questions of one kind, of those that have a score.

    Args:
        cell: its answers.
        columns: its scores; rows of the blocks are rows of these.
        questions: those of `columns`, in their order.
        gold: question id -> what is right.
        metric: one of CROSSED.
        seed: by which a kind with many questions is dealt to blocks.
    """
    scored = ~np.isnan(columns.values(metric))
    rng = np.random.default_rng(seed)
    blocks = []
    for kind in KINDS:
        rows = [row for row, one in enumerate(questions) if scored[row] and one.kind == kind]
        for part in deal(rows, _BLOCK, rng):
            ids = [columns.ids[row] for row in part]
            crossed = cross_scores(
                [_words(cell, one) for one in ids], [gold[one].answers for one in ids], CROSSED[metric]
            )
            scores = np.zeros((len(part), len(part)))
            for place, row in enumerate(crossed):
                scores[place, list(row)] = list(row.values())
            blocks.append(Crossed(part, scores))
    return blocks


def _words(cell: CellScores, question_id: str) -> str | None:
    """What is scored of an answer; None of an abstention, which scores 0 whatever it says."""
    return None if cell.usage[question_id].outcome == "abstained" else cell.answers[question_id] or ""
