"""What an engine is, and what all do alike: check what goes in, put lanes in total order, fuse them, measure recall."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from arena.errors import IndexMismatchError
from arena.protocols import Embedding, SparseVector, Vectors
from indexing.engines.ranking import (
    RRF_K,
    EngineSettings,
    Fusion,
    Lane,
    Ranked,
    Ranking,
    fused,
    has_ties,
    in_order,
    settled,
)

DENSE = "dense"
SPARSE = "sparse"
MULTI = "multi"
MOST_FLOATS = 1_000_000  # of one request: 8 MB as Python's, 20 MB of JSON, below a server's usual 32 MB
SAME = 1 - 1e-5  # share of a vector's score against itself above which a query is the stored vector itself

Term = Vectors | SparseVector
"""One vector of a lane: (d,) float32, or term weights; (tokens, d) of MULTI."""


@dataclass(frozen=True, slots=True)
class VectorShape:
    """The vectors of every point. `idf`: whether the engine weights terms by their rarity, as BM25 wants.

    `multi_dimension`: width of the token vectors for late interaction (None = there are none). `distance`: of dense
    vectors, `cosine` or `dot`.
    """

    dimension: int
    idf: bool = True
    multi_dimension: int | None = None
    distance: str = "cosine"

    def own_score(self, vector: Vectors) -> float:
        """What a stored vector (d,) scores against itself."""
        return 1.0 if self.distance == "cosine" else float(vector @ vector)


@dataclass(frozen=True, slots=True)
class Point:
    """A passage's position, and its vector in each lane that has one for it."""

    position: int
    vectors: Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class LaneQuery:
    """What is asked of one lane: the `limit` nearest, among some positions (None: all).

    `query`: a vector of the lane; of MULTI, the token vectors of a text (tokens, d). `exact`: every point is compared.
    """

    lane: str
    query: Term
    limit: int
    among: Sequence[int] | None = None
    exact: bool = True


@dataclass(frozen=True, slots=True)
class FusionJob:
    """One query whose lanes are known and wait to be fused; lanes that found nothing, and their weights, are out.

    `sources`: each asks a lane among what it found.
    """

    sources: tuple[LaneQuery, ...]
    fusion: Fusion

    @property
    def weights(self) -> list[float] | None:
        """One for each source; None = equal."""
        names = {source.lane for source in self.sources}
        given = self.fusion.weights
        return given and [weight for name, weight in zip((DENSE, SPARSE), given, strict=True) if name in names]


class Engine(ABC):
    """One collection of points; a point is a passage's position with its dense and its sparse vector.

    Optionally with its token vectors too, for late interaction. Filled once, then only read, by any number of
    threads. Rankings follow the total order of `indexing.engines.ranking`, and compare every point unless the
    settings choose HNSW. Queries go in batches; an answer does not depend on what else is in its batch.
    All rests on a few primitives of an engine's own.
    """

    def __init__(self, shape: VectorShape, settings: EngineSettings) -> None:
        self._shape = shape
        self._settings = settings
        self._points: int | None = None  # known until more are added: asking a server takes a round trip

    @staticmethod
    @abstractmethod
    def version() -> str:
        """Version of the engine's library; another version may not read the same files."""

    @classmethod
    @abstractmethod
    def create(
        cls,
        folder: Path,
        dimension: int,
        *,
        idf: bool = True,
        multi_dimension: int | None = None,
        distance: str = "cosine",
        settings: EngineSettings | None = None,
    ) -> Self:
        """An empty collection, in a folder that does not exist yet or, for a server, known to that folder.

        Arguments are those of `VectorShape`.
        """

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, *, settings: EngineSettings | None = None) -> Self:
        """The collection of `folder`, for reading.

        Raises `OSError` when there is none that can be read, `ConfigError` when a server does not answer or refuses
        the key, `IndexMismatchError` when it holds something else.
        """

    @classmethod
    @abstractmethod
    def discard(cls, folder: Path, *, settings: EngineSettings | None = None) -> None:
        """Delete what the collection of `folder` keeps outside of it; the folder itself stays."""

    @abstractmethod
    def flush(self) -> None:
        """Make everything added durable and, where the settings want one, build the HNSW graph."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _count(self) -> int:
        """Number of points."""

    @abstractmethod
    def _store(self, points: Sequence[Point]) -> None:
        """Store checked points, at least one, in one request."""

    @abstractmethod
    def _search(self, queries: Sequence[LaneQuery]) -> list[list[Ranked]]:
        """What each query finds, descending, ties in any order; one batch. Points without a vector are left out."""

    @abstractmethod
    def _fuse(self, jobs: Sequence[FusionJob], depth: int) -> list[list[Ranked]]:
        """Prefetch each source and fuse, in one query for each job; ties in any order."""

    def add(self, positions: Sequence[int], embedding: Embedding) -> None:
        """Store points, durably after `flush`; token vectors where the collection was created for them.

        Raises `ValueError` on a vector that is not finite or of another width, `OSError` when they cannot be stored.
        """
        if self._shape.multi_dimension is None:
            embedding = replace(embedding, multi=None)
        self._check_points(positions, embedding)
        self._points = None
        points: list[Point] = []
        floats = 0
        for row, position in enumerate(positions):
            size = floats_in(embedding, row)
            if points and floats + size > MOST_FLOATS:
                self._store(points)
                points, floats = [], 0
            points.append(Point(position, _vectors(embedding, row)))
            floats += size
        if points:
            self._store(points)

    def count(self) -> int:
        """Number of points."""
        if self._points is None:
            self._points = self._count()
        return self._points

    def dense(self, queries: Vectors, limit: int) -> list[Ranking]:
        """The `limit` passages of highest cosine, or inner product, for each row of `queries` (n, d)."""
        return [Ranking(lane, {DENSE: lane}) for lane in self._dense_lanes(queries, limit)]

    def hybrid(
        self,
        dense: Vectors,
        sparse: Sequence[SparseVector],
        *,
        depth: int,
        rrf_k: int = RRF_K,
        weights: tuple[float, float] | None = None,
        fusion: str = "rrf",
    ) -> list[Ranking]:
        """Both lanes to `depth`, fused inside the engine; at most 2 * depth passages.

        See `indexing.engines.ranking.Fusion` for the settings. The sparse lane holds what scores above 0 in it:
        nothing, for an empty sparse vector. Why every run gives the same answer, however the engine breaks ties:

        1. The lanes are ranked first, in total order: whatever ties at the cut is fetched and ordered.
        2. One query then prefetches both lanes among exactly those candidates and fuses them. It cannot pick other
           candidates, and costs little because it compares at most 2 * depth points.
        3. Ranks are all that RRF reads, and inside a lane an engine orders ties as its files lie. Where a lane has
           ties (BM25 often has), its ranks are settled by position instead and fused here, in the engine's
           own arithmetic.
        4. Fused scores tie all the time (rank r of one lane, rank r of the other). All fused candidates are
           fetched and put in total order before anyone cuts.
        """
        how = Fusion(fusion, rrf_k, weights)
        pairs = list(zip(self._dense_lanes(dense, depth), self._sparse_lanes(sparse, depth), strict=True))
        jobs = {}
        for i, pair in enumerate(pairs):
            if any(pair) and not any(map(has_ties, pair)):
                asked = zip((DENSE, SPARSE), (dense[i], sparse[i]), pair, strict=True)
                sources = (
                    LaneQuery(lane, query, depth, [one.position for one in found]) for lane, query, found in asked
                )
                jobs[i] = FusionJob(tuple(source for source in sources if source.among), how)
        inside = dict(zip(jobs, self._fuse(list(jobs.values()), depth), strict=True))
        return [
            Ranking(
                in_order(inside[i]) if i in inside else fused(pair, how),
                dict(zip((DENSE, SPARSE), pair, strict=True)),
            )
            for i, pair in enumerate(pairs)
        ]

    def maxsim(self, query: Vectors, positions: Sequence[int]) -> list[float]:
        """Late interaction (Khattab and Zaharia, 2020) of a query's token vectors with those of some passages.

        The sum over the rows of `query` (tokens, d') of their highest cosine with any token of the passage, one
        score for each position. Raises `ValueError` for a passage stored without token vectors.
        """
        scores: dict[int, float] = {}
        if positions:
            scores.update(*self._search([LaneQuery(MULTI, query, len(positions), positions)]))
        missing = [position for position in positions if position not in scores]
        if missing:
            raise ValueError(f"the passage at position {missing[0]} has no token vectors")
        return [scores[position] for position in positions]

    def own_score(self, vector: Vectors) -> float:
        """What a stored dense vector (d,) scores against itself."""
        return self._shape.own_score(vector)

    def measure_recall(self, queries: Vectors, k: int) -> float:
        """Share of the true k nearest that `dense` finds, over all `queries`, in [0, 1]; 1 for exact search.

        A query that is itself a stored vector is asked for its k nearest others: finding itself is no merit.
        Raises `ValueError` where there is no query or no point.
        """
        lanes = list(zip(self._dense_lanes(queries, k + 1, exact=True), self._dense_lanes(queries, k + 1), strict=True))
        if not any(truth for truth, _ in lanes):
            raise ValueError("recall needs at least one query and one point")
        wanted = same = 0
        for query, (truth, found) in zip(queries, lanes, strict=True):
            itself = SAME * self._shape.own_score(query)
            own = {truth[0].position} if truth and truth[0].score > itself else set()
            nearest = _first(truth, k, own)
            wanted += len(nearest)
            same += len(nearest & _first(found, k, own))
        return same / wanted if wanted else 1.0

    @property
    def _exact(self) -> bool:
        return not self._settings.uses_graph(self.count())

    def _dense_lanes(self, queries: Vectors, limit: int, *, exact: bool | None = None) -> list[Lane]:
        if queries.shape[1] != self._shape.dimension:
            raise IndexMismatchError(
                f"a query vector has {queries.shape[1]} dimensions, the index {self._shape.dimension}: "
                "ask with the model that embedded its passages"
            )
        return self._lanes(DENSE, list(queries), limit, self._exact if exact is None else exact)

    def _sparse_lanes(self, queries: Sequence[SparseVector], limit: int) -> list[Lane]:
        """What shares weight with the query: a product of 0 or less is no hit.

        Of those, Qdrant Edge and a server's index leave out the zeros, local mode and a server's small segments do not.
        """
        return self._lanes(SPARSE, queries, limit, exact=True, above=0.0)

    def _lanes(
        self, lane: str, queries: Sequence[Term], limit: int, exact: bool, above: float = -math.inf
    ) -> list[Lane]:
        """`above`: only scores that are. Rows descend, so one that lost some has all that there is."""
        everything = self.count() + 1  # one more than there is, so that no row looks cut

        def fetch(which: Sequence[int], n: int) -> list[list[Ranked]]:
            rows = self._search([LaneQuery(lane, queries[i], min(n, everything), exact=exact) for i in which])
            return [[ranked for ranked in row if ranked.score > above] for row in rows]

        return settled(fetch, len(queries), limit)

    def _check_points(self, positions: Sequence[int], embedding: Embedding) -> None:
        """Raise `ValueError` on vectors that an engine would store and then never find, or find wrongly."""
        dense = embedding.dense
        if dense.shape[1] != self._shape.dimension:
            raise ValueError(f"the dense vectors have {dense.shape[1]} dimensions, the index {self._shape.dimension}")
        if not np.isfinite(dense).all():
            row = int(np.flatnonzero(~np.isfinite(dense).all(axis=1))[0])
            raise ValueError(f"the dense vector at position {positions[row]} is not finite")
        for position, tokens in zip(positions, embedding.multi or (), strict=embedding.multi is not None):
            if tokens.shape[1] != self._shape.multi_dimension:
                raise ValueError(
                    f"the token vectors at position {position} have {tokens.shape[1]} dimensions, "
                    f"the index {self._shape.multi_dimension}"
                )
            if not np.isfinite(tokens).all():
                raise ValueError(f"a token vector at position {position} is not finite")


def _vectors(embedding: Embedding, row: int) -> dict[str, Term]:
    vectors: dict[str, Term] = {DENSE: embedding.dense[row]}
    if embedding.sparse[row].indices:  # an empty one would be counted among the texts that idf is about
        vectors[SPARSE] = embedding.sparse[row]
    if embedding.multi is not None:
        vectors[MULTI] = embedding.multi[row]
    return vectors


def floats_in(embedding: Embedding, row: int) -> int:
    """Numbers that one point of an embedding consists of; term ids count too."""
    multi = 0 if embedding.multi is None else int(embedding.multi[row].size)
    return int(embedding.dense.shape[1]) + 2 * len(embedding.sparse[row].indices) + multi


def _first(lane: Lane, k: int, without: set[int]) -> set[int]:
    return set([ranked.position for ranked in lane if ranked.position not in without][:k])
