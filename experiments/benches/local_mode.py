"""qdrant-client's local mode as its users call it: the yardstick of the retrieval benchmark."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import TYPE_CHECKING

from arena.protocols import Embedding, SparseVector
from experiments.benches.stopwatch import Figures, timings_ms
from experiments.benches.synthetic_points import DIMENSION, queries, slices

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

NAME = "bench"


def measure_local_mode(points: int, n: int, seed: int, *, k: int, depth: int, rrf_k: int) -> Figures:
    """Build in memory and ask `n` queries of each mode, each in one call of the client."""
    from qdrant_client import QdrantClient

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of its own size
        client = QdrantClient(":memory:")
        figures: Figures = {"build_seconds": _build(client, points, seed)}
        asked = queries(points, max(n, 1), seed)
        figures |= timings_ms(
            lambda i: client.query_points(NAME, query=asked.dense[i].tolist(), using="dense", limit=k), n, "dense"
        )
        figures |= timings_ms(lambda i: _hybrid(client, asked, i, k=k, depth=depth, rrf_k=rrf_k), n, "hybrid")
    return figures


def _build(client: QdrantClient, points: int, seed: int) -> float:
    """Seconds in the client."""
    from qdrant_client import models

    client.create_collection(
        NAME,
        vectors_config={"dense": models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)},
        sparse_vectors_config={"sparse": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    seconds = 0.0
    for positions, embedding in slices(points, seed):
        rows = zip(positions, embedding.dense.tolist(), embedding.sparse, strict=True)
        started = perf_counter()
        client.upsert(
            NAME,
            [
                models.PointStruct(id=at, vector={"dense": dense, "sparse": _terms(sparse)})
                for at, dense, sparse in rows
            ],
        )
        seconds += perf_counter() - started
    return seconds


def _hybrid(client: QdrantClient, asked: Embedding, i: int, *, k: int, depth: int, rrf_k: int) -> object:
    from qdrant_client import models

    lanes = [
        models.Prefetch(query=asked.dense[i].tolist(), using="dense", limit=depth),
        models.Prefetch(query=_terms(asked.sparse[i]), using="sparse", limit=depth),
    ]
    return client.query_points(NAME, prefetch=lanes, query=models.RrfQuery(rrf=models.Rrf(k=rrf_k)), limit=k)


def _terms(vector: SparseVector) -> models.SparseVector:
    from qdrant_client import models

    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
