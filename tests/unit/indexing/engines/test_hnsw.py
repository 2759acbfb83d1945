from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.protocols import Embedding, SparseVector, Vectors
from indexing.engines.edge import EdgeEngine
from indexing.engines.ranking import EngineSettings, Ranking
from tests.random_points import filled, random_tokens

POINTS = 1_500
WIDTH = 64
GRAPH = EngineSettings(search="hnsw")
COARSE = EngineSettings(search="hnsw", hnsw_m=2, hnsw_ef_construct=4, hnsw_ef=1)


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    """Without any structure: the hardest case for a graph."""
    vectors: Vectors = np.random.default_rng(5).standard_normal((POINTS + 100, WIDTH)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@pytest.fixture(scope="module")
def points(vectors: Vectors) -> Embedding:
    terms = tuple(SparseVector((i % 7, 10 + i % 11), (1.0, 0.5 + i % 3)) for i in range(POINTS))
    return Embedding(vectors[:POINTS], terms, random_tokens(np.random.default_rng(1), POINTS))


@pytest.fixture(scope="module")
def queries(vectors: Vectors) -> Embedding:
    return Embedding(vectors[POINTS:], tuple(SparseVector((i % 7,), (1.0,)) for i in range(100)))


def order(rankings: list[Ranking]) -> list[list[int]]:
    return [[one.position for one in ranking.best] for ranking in rankings]


def test_a_graph_finds_nearly_everything_and_says_how_much(
    tmp_path: Path, points: Embedding, queries: Embedding
) -> None:
    exact = filled("edge", tmp_path / "exact", points)
    graph = filled("edge", tmp_path / "graph", points, settings=GRAPH)
    assert exact.measure_recall(queries.dense, 10) == 1.0
    truth, found = order(exact.dense(queries.dense, 10)), order(graph.dense(queries.dense, 10))
    shared = sum(len(set(one) & set(other)) for one, other in zip(truth, found, strict=True))
    assert graph.measure_recall(queries.dense, 10) == shared / 1_000
    assert shared / 1_000 >= 0.98
    for engine in (exact, graph):
        engine.close()


def test_a_coarse_graph_is_found_out(tmp_path: Path, points: Embedding, queries: Embedding) -> None:
    graph = filled("edge", tmp_path / "graph", points, settings=COARSE)
    assert graph.measure_recall(queries.dense, 10) < 0.98
    assert graph.dense(queries.dense, 10) == graph.dense(queries.dense, 10)
    graph.close()


def test_finding_itself_is_no_merit(tmp_path: Path, points: Embedding) -> None:
    graph = filled("edge", tmp_path / "graph", points, settings=COARSE)
    exact = filled("edge", tmp_path / "exact", points)
    own = points.dense[::15]
    truth, found = order(exact.dense(own, 6)), order(graph.dense(own, 6))
    shared = 0
    for position, one, other in zip(range(0, POINTS, 15), truth, found, strict=True):
        assert one[0] == position
        shared += len(set(one[1:]) & set([near for near in other if near != position][:5]))
    assert graph.measure_recall(own, 5) == shared / (5 * len(own)) < 0.98
    assert exact.measure_recall(own, 5) == 1.0
    for engine in (graph, exact):
        engine.close()


def test_a_single_point_has_no_neighbour_to_miss(tmp_path: Path) -> None:
    engine = EdgeEngine.create(tmp_path / "shard", 4, settings=GRAPH)
    vector = np.array([[0, 1, 0, 0]], dtype=np.float32)
    engine.add([0], Embedding(vector, (SparseVector((), ()),)))
    engine.flush()
    assert engine.measure_recall(vector, 10) == 1.0
    engine.close()


def test_the_other_lanes_stay_exact_and_the_graph_outlives_the_process(
    tmp_path: Path, points: Embedding, queries: Embedding
) -> None:
    exact = filled("edge", tmp_path / "exact", points)
    filled("edge", tmp_path / "graph", points, settings=GRAPH).close()
    graph = EdgeEngine.load(tmp_path / "graph", settings=GRAPH)
    for one, other in zip(
        exact.hybrid(queries.dense, queries.sparse, depth=20),
        graph.hybrid(queries.dense, queries.sparse, depth=20),
        strict=True,
    ):
        assert [place.position for place in one.lanes["sparse"]] == [place.position for place in other.lanes["sparse"]]
        assert len(other.lanes["dense"]) == 20
    assert points.multi is not None
    assert graph.maxsim(points.multi[0], [7, 900]) == pytest.approx(exact.maxsim(points.multi[0], [7, 900]))
    as_exact = EdgeEngine.load(tmp_path / "graph")
    assert order(as_exact.dense(queries.dense, 10)) == order(exact.dense(queries.dense, 10))
