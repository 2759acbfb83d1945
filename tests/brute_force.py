"""The index's rankings worked out by numpy alone, as a reference for every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from arena.protocols import Embedding, SparseVector, Vectors

Scores = Mapping[int, float]
MILLIONTH = 1e-6


def cosines(points: Vectors, query: Vectors) -> Scores:
    """Every position has one."""
    wide = points.astype(np.float64) @ query.astype(np.float64)
    return dict(enumerate((wide / np.linalg.norm(points.astype(np.float64), axis=1)).tolist()))


def bm25_scores(points: Sequence[SparseVector], query: SparseVector) -> Scores:
    """Positions that share a term with the query; both weights times ln(1 + (n - df + 0.5) / (df + 0.5)).

    n counts the points that have any term, df those that have this one.
    """
    n = sum(bool(point.indices) for point in points)
    scores: dict[int, float] = {}
    for term, asked in zip(query.indices, query.values, strict=True):
        holders = [position for position, point in enumerate(points) if term in point.indices]
        idf = np.log(1 + (n - len(holders) + 0.5) / (len(holders) + 0.5))
        for position in holders:
            weight = points[position].values[points[position].indices.index(term)]
            scores[position] = scores.get(position, 0.0) + float(asked * weight * idf)
    return scores


def ranked(scores: Scores, limit: int) -> list[int]:
    """Best first. Neighbours closer than a millionth of the best score tie, and ties go to the lower position."""
    descending = sorted(scores, key=lambda position: -scores[position])
    order: list[int] = []
    tied: list[int] = []
    for position in descending:
        if tied and scores[tied[-1]] - scores[position] > MILLIONTH * abs(scores[descending[0]]):
            order += sorted(tied)
            tied = []
        tied.append(position)
    return (order + sorted(tied))[:limit]


def reciprocal_ranks(lanes: Sequence[Sequence[int]], rrf_k: int, weights: Sequence[float] = (1, 1)) -> Scores:
    """Qdrant's reciprocal rank fusion, in float64."""
    scores: dict[int, float] = {}
    for lane, weight in zip(lanes, weights, strict=True):
        for rank, position in enumerate(lane, 1):
            scores[position] = scores.get(position, 0.0) + 1 / (rank / weight + rrf_k - 1)
    return scores


def distributions(lanes: Sequence[Scores]) -> Scores:
    """Qdrant's distribution-based score fusion of two cut lanes, in float64."""
    fused: dict[int, float] = {}
    for lane in lanes:
        scores = np.array(list(lane.values()))
        low, high = (scores.mean() + sign * 3 * scores.std(ddof=1) for sign in (-1, 1)) if len(lane) > 1 else (0, 0)
        for position, score in lane.items():
            fused[position] = fused.get(position, 0.0) + (0.5 if high - low < 1e-9 else (score - low) / (high - low))
    return fused


def hybrid(points: Embedding, dense: Vectors, sparse: SparseVector, *, k: int, depth: int, rrf_k: int) -> list[int]:
    """Reciprocal rank fusion of both lanes."""
    lanes = [ranked(cosines(points.dense, dense), depth), ranked(bm25_scores(points.sparse, sparse), depth)]
    return ranked(reciprocal_ranks(lanes, rrf_k), k)
