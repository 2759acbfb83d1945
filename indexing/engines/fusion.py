"""How two lanes become one ranking: reciprocal ranks, weighted or not, or score distributions.

Both are worked out here in the arithmetic of Qdrant, so that a lane whose ties were settled by position can be
fused without the engine, to the same scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from indexing.engines.ranking import Lane, Ranked, in_order

RRF_K = 60
FUSIONS: Mapping[str, str] = {
    "rrf": "reciprocal rank fusion (Cormack et al., 2009)",
    "dbsf": "distribution-based score fusion (as Qdrant defines it)",
}


@dataclass(frozen=True, slots=True)
class Fusion:
    """One way to fuse. `weights`: of the dense and the sparse lane, above 0; for `rrf` only (None = equal).

    `rrf`: sum over the lanes of 1 / (rank / weight + rrf_k - 1), rank from 1. Cormack et al. add rrf_k to a rank
    from 1; Qdrant, to a rank from 0. A weight stretches the ranks of its lane: with weight 2, places 1 and 2 score
    like 0.5 and 1.

    `dbsf`: sum over the lanes of (score - low) / (high - low), where low and high lie three sample standard
    deviations below and above the mean score of that lane, as it was cut at its depth. A lane of one
    score, however often it occurs, gives each of its passages 0.5.
    """

    method: str = "rrf"
    rrf_k: int = RRF_K
    weights: tuple[float, float] | None = None


def fused(lanes: Sequence[Lane], fusion: Fusion) -> Lane:
    """The dense and the sparse lane as one ranking; an empty lane adds nothing."""
    weights = fusion.weights or (1.0, 1.0)
    scores: dict[int, np.float32] = {}
    for lane, weight in zip(lanes, weights, strict=True):
        shares = _distributed(lane) if fusion.method == "dbsf" else _reciprocal(lane, fusion.rrf_k, weight)
        for ranked, share in zip(lane, shares, strict=True):
            scores[ranked.position] = scores.get(ranked.position, np.float32(0)) + share
    return in_order(Ranked(position, float(score)) for position, score in scores.items())


def _reciprocal(lane: Lane, rrf_k: int, weight: float) -> list[np.float32]:
    """In float32, as Qdrant adds it up."""
    one = np.float32(1)
    return [one / (np.float32(rank) / np.float32(weight) + np.float32(rrf_k) - one) for rank in range(1, len(lane) + 1)]


def _distributed(lane: Lane) -> list[np.float32]:
    scores = np.array([ranked.score for ranked in lane], dtype=np.float64)
    if len(lane) < 2 or scores.max() == scores.min():
        return [np.float32(0.5)] * len(lane)
    mean, deviation = scores.mean(), math.sqrt(scores.var(ddof=1))
    return [np.float32((score - mean + 3 * deviation) / (6 * deviation)) for score in scores]
