from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.protocols import Embedding, SparseVector
from indexing.engines import ENGINES
from indexing.engines.edge import EdgeEngine
from indexing.engines.ranking import has_ties, in_order, reciprocal_rank_fusion
from tests.brute_force import bm25_scores, cosines, hybrid, ranked

WIDTH = 16
POINTS = 300
QUERIES = 100


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
    """With `ties`, every third query is one of the points, and sparse queries have two terms at most.

    Two floats add up to the same bits in either order; with more, what ties on paper may differ in the last bit.
    """
    queries = random_embedding(rng, n, ties=ties, most_terms=2 if ties else 8)
    if ties:
        queries.dense[::3] = points.dense[: len(queries.dense[::3])]
    return queries


def filled(folder: Path, points: Embedding, order: np.ndarray | None = None) -> EdgeEngine:
    engine = EdgeEngine.create(folder, WIDTH)
    for part in np.array_split(np.arange(len(points.dense)) if order is None else order, 7):
        rows = [int(position) for position in part]
        engine.add(rows, Embedding(points.dense[rows], tuple(points.sparse[row] for row in rows)))
    engine.flush()
    return engine


@pytest.mark.parametrize("ties", [False, True])
def test_parity_with_brute_force(tmp_path: Path, ties: bool) -> None:
    rng = np.random.default_rng(7)
    points = random_embedding(rng, POINTS, ties=ties)
    queries = random_queries(rng, points, QUERIES, ties=ties)
    engine = filled(tmp_path / "shard", points)
    dense = engine.dense(queries.dense, 10)
    fused = engine.hybrid(queries.dense, queries.sparse, depth=30, rrf_k=60)
    for i in range(QUERIES):
        assert [place.position for place in dense[i].best] == ranked(cosines(points.dense, queries.dense[i]), 10)
        scores = bm25_scores(points.sparse, queries.sparse[i])
        sparse = fused[i].lanes["sparse"]
        assert [place.position for place in sparse] == ranked(scores, 30)
        assert [place.score for place in sparse] == pytest.approx([scores[place.position] for place in sparse])
        expected = hybrid(points, queries.dense[i], queries.sparse[i], k=10, depth=30, rrf_k=60)
        assert [place.position for place in fused[i].best[:10]] == expected
    engine.close()


def test_fusion_here_and_in_the_engine_give_the_same_bits(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    points = random_embedding(rng, POINTS, ties=False)
    queries = random_queries(rng, points, QUERIES, ties=False)
    engine = filled(tmp_path / "shard", points)
    fused = engine.hybrid(queries.dense, queries.sparse, depth=30, rrf_k=60)
    without_ties = [ranking for ranking in fused if not any(map(has_ties, ranking.lanes.values()))]
    assert len(without_ties) > QUERIES / 2
    assert [ranking.best for ranking in without_ties] == [
        reciprocal_rank_fusion(ranking.lanes.values(), 60) for ranking in without_ties
    ]
    engine.close()


def test_order_of_insertion_leaves_no_trace(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    points = random_embedding(rng, POINTS, ties=True)
    queries = random_queries(rng, points, 30, ties=True)
    forward = filled(tmp_path / "forward", points)
    shuffled = filled(tmp_path / "shuffled", points, rng.permutation(POINTS))
    for engine in (forward, shuffled):
        assert engine.count() == POINTS
    assert forward.dense(queries.dense, 20) == shuffled.dense(queries.dense, 20)
    settings = {"depth": 40, "rrf_k": 60}
    assert forward.hybrid(queries.dense, queries.sparse, **settings) == shuffled.hybrid(
        queries.dense, queries.sparse, **settings
    )


def test_a_query_is_answered_alone_as_in_a_batch(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    points = random_embedding(rng, POINTS, ties=True)
    queries = random_queries(rng, points, 30, ties=True)
    engine = filled(tmp_path / "shard", points)
    together = engine.hybrid(queries.dense, queries.sparse, depth=20, rrf_k=60)
    for i, ranking in enumerate(together):
        alone = engine.hybrid(queries.dense[i : i + 1], queries.sparse[i : i + 1], depth=20, rrf_k=60)
        assert alone == [ranking]


def test_all_points_alike_are_ordered_by_position(tmp_path: Path) -> None:
    one = np.full((1, WIDTH), WIDTH**-0.5, dtype=np.float32)
    points = Embedding(np.repeat(one, 200, axis=0), (SparseVector((1,), (1.0,)),) * 200)
    engine = filled(tmp_path / "shard", points, np.arange(200)[::-1])
    assert [place.position for place in engine.dense(one, 5)[0].best] == [0, 1, 2, 3, 4]
    (ranking,) = engine.hybrid(one, [SparseVector((1,), (1.0,))], depth=5, rrf_k=60)
    assert [place.position for place in ranking.best] == [0, 1, 2, 3, 4]
    assert ranking.lanes["sparse"] == in_order(ranking.lanes["sparse"])


def test_an_empty_sparse_query_leaves_the_dense_lane(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    engine = filled(tmp_path / "shard", random_embedding(rng, 50, ties=False))
    query = random_embedding(rng, 1, ties=False).dense
    unknown = SparseVector((999,), (1.0,))
    for sparse in (SparseVector((), ()), unknown):
        (ranking,) = engine.hybrid(query, [sparse], depth=10, rrf_k=60)
        assert ranking.lanes["sparse"] == ()
        assert [place.position for place in ranking.best] == [
            place.position for place in engine.dense(query, 10)[0].best
        ]


def test_a_limit_beyond_the_end_gives_everything(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    engine = filled(tmp_path / "shard", random_embedding(rng, 12, ties=True))
    query = random_embedding(rng, 1, ties=False)
    assert len(engine.dense(query.dense, 1000)[0].best) == 12
    assert len(engine.hybrid(query.dense, query.sparse, depth=1000, rrf_k=60)[0].best) == 12


def test_no_queries(tmp_path: Path) -> None:
    engine = filled(tmp_path / "shard", random_embedding(np.random.default_rng(8), 12, ties=False))
    none = np.empty((0, WIDTH), dtype=np.float32)
    assert engine.dense(none, 5) == engine.hybrid(none, [], depth=5, rrf_k=60) == []


def test_a_vector_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    points = random_embedding(np.random.default_rng(9), 3, ties=False)
    points.dense[1, 4] = np.nan
    with pytest.raises(ValueError, match="position 8 is not finite"):
        EdgeEngine.create(tmp_path / "shard", WIDTH).add([7, 8, 9], points)


@pytest.mark.parametrize("content", [None, b"", b"{"])
def test_a_folder_without_a_shard_is_an_os_error(tmp_path: Path, content: bytes | None) -> None:
    folder = tmp_path / "shard"
    if content is not None:
        folder.mkdir()
        (folder / "edge_config.json").write_bytes(content)
    with pytest.raises(OSError, match="cannot read"):
        EdgeEngine.load(folder)


def test_every_engine_says_its_version() -> None:
    assert all(engine.version().count(".") >= 2 for engine in ENGINES.values())
