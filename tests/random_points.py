"""Random passages and queries for engines, and the engines filled with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from arena.protocols import Embedding, SparseVector, Vectors
from indexing.engines import ENGINES, Engine
from indexing.engines.ranking import MEMORY, EngineSettings

WIDTH = 16
IN_MEMORY = EngineSettings("server", path=MEMORY)
SETTINGS = {"edge": EngineSettings(), "server": IN_MEMORY}


def random_embedding(rng: np.random.Generator, n: int, *, ties: bool, most_terms: int = 8) -> Embedding:
    """With `ties`, every fourth row repeats another, and term weights take three values only."""
    dense = rng.standard_normal((n, WIDTH)).astype(np.float32)
    sparse = []
    for _ in range(n):
        terms = rng.choice(60, size=int(rng.integers(0, most_terms + 1)), replace=False)
        weights = rng.choice([0.5, 1.0, 1.5], len(terms)) if ties else rng.uniform(0.1, 2.0, len(terms))
        sparse.append(SparseVector(tuple(int(term) for term in terms), tuple(float(weight) for weight in weights)))
    if ties:
        for copy in range(0, n, 4):
            original = int(rng.integers(0, n))
            dense[copy], sparse[copy] = dense[original], sparse[original]
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    return Embedding(dense, tuple(sparse))


def random_queries(rng: np.random.Generator, points: Embedding, n: int, *, ties: bool) -> Embedding:
    """With `ties`, every third query is one of the points."""
    queries = random_embedding(rng, n, ties=ties)
    if ties:
        queries.dense[::3] = points.dense[: len(queries.dense[::3])]
    return queries


def random_tokens(rng: np.random.Generator, n: int, width: int = 4) -> tuple[Vectors, ...]:
    """One to five token vectors for each of n texts."""
    tokens = [rng.standard_normal((int(rng.integers(1, 6)), width)).astype(np.float32) for _ in range(n)]
    return tuple(one / np.linalg.norm(one, axis=1, keepdims=True) for one in tokens)


def filled(
    kind: str,
    folder: Path,
    points: Embedding,
    *,
    order: Sequence[int] | None = None,
    settings: EngineSettings | None = None,
) -> Engine:
    """An engine that holds `points`, added in seven slices, in the given order."""
    multi = points.multi[0].shape[1] if points.multi else None
    wanted = settings or SETTINGS[kind]
    engine = ENGINES[kind].create(folder, points.dense.shape[1], multi_dimension=multi, settings=wanted)
    for part in np.array_split(np.arange(len(points.dense)) if order is None else np.array(order), 7):
        rows = [int(position) for position in part]
        engine.add(rows, taken(points, rows))
    engine.flush()
    return engine


def taken(points: Embedding, rows: Sequence[int]) -> Embedding:
    """Some rows of an embedding."""
    multi = None if points.multi is None else tuple(points.multi[row] for row in rows)
    return Embedding(points.dense[list(rows)], tuple(points.sparse[row] for row in rows), multi)
