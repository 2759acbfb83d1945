"""The index's rankings worked out by numpy alone, as a reference for every engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.protocols import Embedding, SparseVector, Vectors

Scores = dict[int, float]


def cosines(points: Vectors, query: Vectors) -> Scores:
    """Every position has one. Row by row: equal rows get equal bits, which a matrix product does not promise."""
    return {position: float(np.dot(row, query)) for position, row in enumerate(points)}


def bm25_scores(points: Sequence[SparseVector], query: SparseVector) -> Scores:
    """Positions that share a term with the query; both weights times ln(1 + (n - df + 0.5) / (df + 0.5)).

    n counts the points that have any term, df those that have this one.
    """
    n = sum(bool(point.indices) for point in points)
    scores: Scores = {}
    for term, asked in zip(query.indices, query.values, strict=True):
        holders = [position for position, point in enumerate(points) if term in point.indices]
        idf = np.log(1 + (n - len(holders) + 0.5) / (len(holders) + 0.5))
        for position in holders:
            weight = points[position].values[points[position].indices.index(term)]
            scores[position] = scores.get(position, 0.0) + float(asked * weight * idf)
    return scores


def ranked(scores: Scores, limit: int, *, digits: int = 6) -> list[int]:
    """Best first; scores that agree to `digits` decimals tie, and ties go to the lower position."""
    return sorted(scores, key=lambda position: (-round(scores[position], digits), position))[:limit]


def hybrid(points: Embedding, dense: Vectors, sparse: SparseVector, *, k: int, depth: int, rrf_k: int) -> list[int]:
    """Reciprocal rank fusion of both lanes, in exact fractions of float64."""
    lanes = [ranked(cosines(points.dense, dense), depth), ranked(bm25_scores(points.sparse, sparse), depth)]
    fused: Scores = {}
    for lane in lanes:
        for rank, position in enumerate(lane):
            fused[position] = fused.get(position, 0.0) + 1 / (rrf_k + rank)
    return ranked(fused, k, digits=9)
