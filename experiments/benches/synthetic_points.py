"""Points of the shape that bge-m3 gives, without a model: 1024 dimensions and some 90 weighted terms.

Text embeddings fill few of their dimensions, which is what a graph of neighbours lives on. So the vectors have
64 degrees of freedom, spread over 1024 dimensions by a fixed random projection, and a little noise in all of them.
Terms follow Zipf's law, as words do. A query is near one of the points and asks for eight of its terms.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from arena.protocols import Embedding, SparseVector, Vectors

DIMENSION = 1024
FREEDOM = 64
NOISE = 0.3
"""Length of the noise, and of a query's distance to its point, relative to the vector."""
TERMS = 90
QUERY_TERMS = 8
VOCABULARY = 30_000
SLICE = 256


def slices(points: int, seed: int) -> Iterator[tuple[range, Embedding]]:
    """All points, slice by slice, so that nobody has to hold them; each slice follows from seed and place."""
    for start in range(0, points, SLICE):
        rng = np.random.default_rng([seed, start])
        positions = range(start, min(start + SLICE, points))
        sparse = tuple(_terms(rng, TERMS) for _ in positions)
        yield positions, Embedding(_vectors(rng, _latent(rng, len(positions))), sparse)


def queries(points: int, n: int, seed: int) -> Embedding:
    """`n` queries, each about a point of the first 256; a corpus of any size holds many of its neighbours."""
    rng = np.random.default_rng([seed, 0])
    size = min(SLICE, points)
    sparse = [_terms(rng, TERMS) for _ in range(size)]
    latent = _latent(rng, size)
    asking = np.random.default_rng([seed, points, n])
    chosen = asking.integers(0, size, n)
    moved = latent[chosen] + NOISE * asking.standard_normal((n, FREEDOM)).astype(np.float32)
    return Embedding(_vectors(asking, moved), tuple(_asked(asking, sparse[one]) for one in chosen))


def _latent(rng: np.random.Generator, n: int) -> Vectors:
    return rng.standard_normal((n, FREEDOM)).astype(np.float32)


def _vectors(rng: np.random.Generator, latent: Vectors) -> Vectors:
    spread = np.random.default_rng(FREEDOM).standard_normal((FREEDOM, DIMENSION)).astype(np.float32)
    vectors: Vectors = latent @ spread / np.float32(np.sqrt(FREEDOM))
    vectors += NOISE * rng.standard_normal(vectors.shape).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _terms(rng: np.random.Generator, n: int) -> SparseVector:
    """`n` draws by Zipf's law with exponent 1 (rank = vocabulary ** u), repeats left out."""
    terms = np.unique((VOCABULARY ** rng.random(n * 2)).astype(np.int64))
    kept = np.sort(rng.permutation(terms)[:n])
    return SparseVector(tuple(kept.tolist()), tuple(rng.uniform(0.3, 2.0, len(kept)).astype(np.float32).tolist()))


def _asked(rng: np.random.Generator, passage: SparseVector) -> SparseVector:
    chosen = sorted(rng.choice(passage.indices, QUERY_TERMS, replace=False).tolist())
    return SparseVector(tuple(chosen), (1.0,) * QUERY_TERMS)
