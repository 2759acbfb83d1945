"""Rankings with one order, score descending, then position ascending; their fusion; and the settings of an engine.

No tie is left to an engine. A position is the place of a passage in passage-id order, so "then position" reads "then
passage id".

The same score comes out of two engines, or of two builds of one engine, with different last bits. So neighbours in a
ranking that lie closer than a millionth of its best score share one score, the highest among them: the order then rests
on what the vectors say and not on rounding. The price is that passages that differ by less than that, in truth and not
by rounding, are ordered by id. What ties on paper ties here, in every engine. A reranker's scores come rounded to
significant digits already, and are ranked as they are.

Two lanes become one ranking by reciprocal ranks, weighted or not, or by score distributions. Both are worked out here
in the arithmetic of Qdrant, so that a lane whose ties were settled by position can be fused without the engine, to the
same scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from arena.errors import ConfigError, UnknownNameError
from arena.network import address_without_secret

RESOLUTION = 1e-6


class Ranked(NamedTuple):
    """One passage and its score in some ranking."""

    position: int
    score: float


Lane = tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer to one query, best first, and the lanes it came from, cut at their depth."""

    best: Lane
    lanes: Mapping[str, Lane]


def in_order(ranked: Iterable[Ranked]) -> Lane:
    """The total order of all rankings, with one score for what is closer than the resolution."""
    descending = sorted(ranked, key=lambda one: -one.score)
    noise = _noise(descending)
    levelled: list[Ranked] = []
    before = math.inf
    for position, score in descending:
        level = levelled[-1].score if before - score <= noise else score
        levelled.append(Ranked(position, level))
        before = score
    return by_score(levelled)


def by_score(ranked: Iterable[Ranked]) -> Lane:
    """Score descending, then position ascending, scores as they are: for scores that carry no noise."""
    return tuple(sorted(ranked, key=lambda one: (-one.score, one.position)))


def settled(fetch: Callable[[Sequence[int], int], Sequence[Sequence[Ranked]]], queries: int, limit: int) -> list[Lane]:
    """The first `limit` of the total order for each of `queries` queries.

    `fetch(which, n)` returns the n best of those queries, descending, ties in any order. Where everything fetched
    after the cut still ties with it, a better candidate by position may be missing, so more is fetched,
    up to everything.
    """
    lanes: dict[int, Lane] = {}
    pending: Sequence[int] = range(queries)
    asked = limit + 16  # rarely too few: a wider tie than this costs one more query
    while pending:
        for query, row in zip(pending, fetch(pending, asked), strict=True):
            if len(row) < asked or _gap_after(row, limit):
                lanes[query] = in_order(row)[:limit]
        pending = [query for query in pending if query not in lanes]
        asked *= 8
    return [lanes[query] for query in range(queries)]


def has_ties(lane: Lane) -> bool:
    """Whether two passages of an ordered lane share a score."""
    return any(first.score == second.score for first, second in pairwise(lane))


def _noise(descending: Sequence[Ranked]) -> float:
    return RESOLUTION * abs(descending[0].score) if descending else 0.0


def _gap_after(row: Sequence[Ranked], limit: int) -> bool:
    """Whether some passage at or after the cut scores truly less than the one before it."""
    noise = _noise(row)
    return any(first.score - second.score > noise for first, second in pairwise(row[limit - 1 :]))


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


EXACT_LIMIT = 200_000
"""Points up to which `auto` compares every one of them: a benchmark must not measure the noise of a graph."""
MEMORY = ":memory:"
KINDS: Mapping[str, str] = {
    "edge": "Qdrant inside this process, files in the index's folder",
    "server": "Qdrant through its client: a URL, a local path or memory",
}
SEARCHES: Mapping[str, str] = {
    "auto": f"exact up to {EXACT_LIMIT:,} points, hnsw above",
    "exact": "every point is compared",
    "hnsw": "a graph of near neighbours (Malkov and Yashunin, 2018): approximate, of which recall is measured",
}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Everything an engine is opened with.

    `url`, `api_key` and `path` are for `server`: the server at a URL; else Qdrant's local mode in the folder `path`,
    or in memory for `:memory:`; else local mode inside the index's own folder. `hnsw_m`: edges a node of the graph
    has; `hnsw_ef_construct`, `hnsw_ef`: candidates kept while a node is inserted and while a query is answered.
    """

    kind: str = "edge"
    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    path: str | None = None
    search: Literal["auto", "exact", "hnsw"] = "auto"
    hnsw_m: int = 16
    hnsw_ef_construct: int = 128
    hnsw_ef: int = 128

    def __post_init__(self) -> None:
        """Raise `UnknownNameError` or `ConfigError` on a name or a combination that means nothing."""
        if self.kind not in KINDS:
            raise UnknownNameError("engine", self.kind, KINDS)
        if self.url:
            try:
                address_without_secret("a Qdrant url", self.url, "index.api_key_variable")
            except ValueError as error:
                raise ConfigError(str(error)) from None
        if self.search not in SEARCHES:
            raise UnknownNameError("search", self.search, SEARCHES)
        if self.kind != "server" and (self.url or self.path):
            raise ConfigError(f"a Qdrant url or path is for engine 'server', not {self.kind!r}: leave one of them out")
        if self.url and self.path:
            raise ConfigError(f"both url {self.url!r} and path {self.path!r} are set: an index is in one of them")
        for name in ("hnsw_m", "hnsw_ef_construct", "hnsw_ef"):
            if getattr(self, name) < 1:
                raise ConfigError(f"engine setting {name} must be at least 1, not {getattr(self, name)!r}")

    def uses_graph(self, points: int) -> bool:
        """Whether a collection of so many points is searched by HNSW."""
        return self.search == "hnsw" or (self.search == "auto" and points > EXACT_LIMIT)

    def identity(self, points: int) -> dict[str, str | int]:
        """What can change a hit, for a collection of so many points; where it lies cannot."""
        if not self.uses_graph(points):
            return {"search": "exact"}
        return {
            "search": "hnsw",
            "hnsw_m": self.hnsw_m,
            "hnsw_ef_construct": self.hnsw_ef_construct,
            "hnsw_ef": self.hnsw_ef,
        }


EDGE = EngineSettings()
"""The usual engine: embedded, in the index's own folder."""
