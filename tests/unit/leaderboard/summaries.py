"""Scores made by hand, summarised the way the leaderboard does."""

from __future__ import annotations

from collections.abc import Sequence

from arena.leaderboard.metrics import QuestionResamples, ScoreColumns, summarise_columns
from arena.leaderboard.schema import MetricSummary
from arena.types import Question, Score


def summary_of(scores: Sequence[Score], seed: int = 0) -> MetricSummary:
    """The summary of one metric with these scores, of questions that are all alike."""
    ids = tuple(f"q{place:05}" for place in range(len(scores)))
    resamples = QuestionResamples([Question(one, "?", "multi_hop", 2) for one in ids], seed)
    columns = ScoreColumns(ids, {scores[0].metric: list(scores)})
    return summarise_columns(columns, resamples.of(ids))[scores[0].metric]
