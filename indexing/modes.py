"""The retrieval modes, one query plan each, and the requests that they can answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from arena.errors import ConfigError, UnknownNameError
from arena.protocols import Embedding
from arena.types import RetrievalRequest
from indexing.engines import Engine
from indexing.engines.ranking import FUSIONS, RRF_K, Ranking

DEPTH = 50
"""Candidates of a lane where a request does not say; how far `dense` looks, of which only k are hits."""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """How a mode finds its candidates, and whether a reranker has the last word on them.

    `candidates`: rankings for n embedded queries that share everything in the request but the query.
    """

    candidates: Callable[[Engine, Embedding, RetrievalRequest], list[Ranking]]
    reranked: bool = False


def _dense(engine: Engine, queries: Embedding, request: RetrievalRequest) -> list[Ranking]:
    return engine.dense(queries.dense, max(DEPTH, k_of(request)))


def _hybrid(engine: Engine, queries: Embedding, request: RetrievalRequest) -> list[Ranking]:
    return engine.hybrid(
        queries.dense,
        queries.sparse,
        depth=depth_of(request),
        rrf_k=RRF_K if request.rrf_k is None else request.rrf_k,
        weights=request.lane_weights,
        fusion=request.fusion or "rrf",
    )


def depth_of(request: RetrievalRequest) -> int:
    """Candidates of a lane, and of a reranker. Fewer than k could leave out passages that k has room for."""
    return max(DEPTH if request.depth is None else request.depth, k_of(request))


def k_of(request: RetrievalRequest) -> int:
    """Hits wanted. Raises `ConfigError` where a request does not say."""
    if request.k is None:
        raise ConfigError("a request to an index says how many passages it wants: set k to 1 or more, not to None")
    return request.k


MODES: Mapping[str, QueryPlan] = {
    "dense": QueryPlan(_dense),
    "hybrid": QueryPlan(_hybrid),
    "hybrid_rerank": QueryPlan(_hybrid, reranked=True),
}
"""`dense`: cosine alone, ranked to `DEPTH` and cut at k. `hybrid`: cosine and term weights, each to `depth`, fused
inside the engine. `hybrid_rerank`: the first `depth` of what `hybrid` finds, in the order of the reranker's scores."""


def check_request(request: RetrievalRequest) -> None:
    """Raise `UnknownNameError` or `ConfigError` where a request cannot be answered by any index."""
    if request.mode not in MODES:
        raise UnknownNameError("retrieval mode", request.mode, MODES)
    for name, value in (("k", k_of(request)), ("depth", request.depth), ("rrf_k", request.rrf_k)):
        if value is not None and value < 1:
            raise ConfigError(f"retrieval setting {name} must be at least 1, not {value!r}")
    if request.fusion is not None and request.fusion not in FUSIONS:
        raise UnknownNameError("fusion", request.fusion, FUSIONS)
    if request.lane_weights is not None:
        if request.fusion == "dbsf":
            raise ConfigError("retrieval setting lane_weights has no meaning in fusion 'dbsf': leave one of them out")
        if len(request.lane_weights) != 2 or not all(0 < weight < math.inf for weight in request.lane_weights):
            raise ConfigError(
                "retrieval setting lane_weights must be two numbers above 0, dense and sparse, "
                f"not {request.lane_weights!r}"
            )
    if request.threshold is not None and not math.isfinite(request.threshold):
        raise ConfigError(f"retrieval setting threshold must be a finite number, not {request.threshold!r}")
