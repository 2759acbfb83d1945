"""The metrics of the arena, in the order tables show them. Each scores one record; none averages or rounds."""

from __future__ import annotations

from collections.abc import Mapping

from arena.metrics.answer import contains, exact_match, token_f1
from arena.metrics.reasons import is_undefined
from arena.metrics.retrieval import (
    full_recall,
    hit_at_k,
    precision,
    precision_at_k,
    recall,
    recall_at_k,
    reciprocal_rank,
)
from arena.metrics.spec import MetricSpec, on_answer, on_cut, on_ranking, on_used
from arena.types import Gold, Question, RunRecord, Score

__all__ = ["METRICS", "MetricSpec", "is_undefined", "score_record"]

METRICS: Mapping[str, MetricSpec] = {
    spec.name: spec
    for spec in (
        on_used("retrieval_recall", "share of the gold documents that the answer was written from", recall),
        on_used("retrieval_precision", "share of the documents the answer was written from that are gold", precision),
        on_used("full_recall", "whether the answer was written from all gold documents", full_recall, binary=True),
        on_cut("recall_at_5", "share of the gold in the first 5 of the first retrieval", recall_at_k, 5),
        on_cut("recall_at_10", "share of the gold in the first 10 of the first retrieval", recall_at_k, 10),
        on_cut("hit_at_5", "whether any gold is in the first 5 of the first retrieval", hit_at_k, 5, binary=True),
        on_cut("precision_at_5", "share of the first 5 of the first retrieval that is gold", precision_at_k, 5),
        on_ranking("mrr", "1 / rank of the first gold document in the first retrieval", reciprocal_rank),
        on_answer("answer_em", "whether the answer equals a gold answer, normalised", exact_match, binary=True),
        on_answer("answer_f1", "overlap of the answer's tokens with a gold answer's", token_f1),
        on_answer("answer_contains", "whether a gold answer stands in the answer", contains, binary=True),
    )
}


def score_record(record: RunRecord, question: Question, gold: Gold) -> tuple[Score, ...]:
    """Every metric on one record, in the order of METRICS. `question` and `gold` belong to the record."""
    return tuple(spec.score(record, question, gold) for spec in METRICS.values())
