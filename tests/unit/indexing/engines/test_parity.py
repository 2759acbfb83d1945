"""Both engines and numpy, on the same points, give the same passages in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from arena.errors import IndexMismatchError
from arena.protocols import Embedding, SparseVector
from indexing.engines import ENGINES, Engine
from indexing.engines.ranking import Lane, Ranking, in_order
from tests.brute_force import bm25_scores, cosines, distributions, ranked, reciprocal_ranks
from tests.random_points import SETTINGS, WIDTH, filled, random_embedding, random_queries, random_tokens

POINTS = 150
QUERIES = 300
BOTH = pytest.mark.parametrize("kind", sorted(SETTINGS))


class Filled:
    """One set of points and queries, and every engine that holds them."""

    def __init__(self, folder: Path, *, ties: bool) -> None:
        rng = np.random.default_rng(7)
        self.points = random_embedding(rng, POINTS, ties=ties)
        self.queries = random_queries(rng, self.points, QUERIES, ties=ties)
        self.engines = {kind: filled(kind, folder / kind, self.points) for kind in SETTINGS}
        self.cosines = [cosines(self.points.dense, query) for query in self.queries.dense]
        self.bm25 = [bm25_scores(self.points.sparse, query) for query in self.queries.sparse]


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "ties"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    case = Filled(tmp_path_factory.mktemp("parity"), ties=request.param)
    yield case
    for engine in case.engines.values():
        engine.close()


def ids(lane: Lane) -> list[int]:
    return [one.position for one in lane]


def everything(engine: Engine, queries: Embedding, depth: int = 40) -> tuple[list[Ranking], list[Ranking]]:
    return engine.dense(queries.dense, 20), engine.hybrid(queries.dense, queries.sparse, depth=depth)


@BOTH
def test_dense(case: Filled, kind: str) -> None:
    found = case.engines[kind].dense(case.queries.dense, 10)
    assert [ids(ranking.best) for ranking in found] == [ranked(scores, 10) for scores in case.cosines]


@BOTH
def test_both_lanes_and_their_fusion(case: Filled, kind: str) -> None:
    found = case.engines[kind].hybrid(case.queries.dense, case.queries.sparse, depth=30)
    for i, ranking in enumerate(found):
        lanes = [ranked(case.cosines[i], 30), ranked(case.bm25[i], 30)]
        assert [ids(ranking.lanes["dense"]), ids(ranking.lanes["sparse"])] == lanes
        for lane, scores in ((ranking.lanes["dense"], case.cosines[i]), (ranking.lanes["sparse"], case.bm25[i])):
            assert [one.score for one in lane] == pytest.approx([scores[one.position] for one in lane], abs=1e-5)
        assert ids(ranking.best) == ranked(reciprocal_ranks(lanes, 60), 60)


@BOTH
@pytest.mark.parametrize(("rrf_k", "weights"), [(1, (1.0, 1.0)), (60, (3.0, 1.0)), (10, (0.5, 2.5))])
def test_weighted_fusion(case: Filled, kind: str, rrf_k: int, weights: tuple[float, float]) -> None:
    some = Embedding(case.queries.dense[:30], case.queries.sparse[:30])
    found = case.engines[kind].hybrid(some.dense, some.sparse, depth=20, rrf_k=rrf_k, weights=weights)
    for i, ranking in enumerate(found):
        lanes = [ranked(case.cosines[i], 20), ranked(case.bm25[i], 20)]
        assert ids(ranking.best) == ranked(reciprocal_ranks(lanes, rrf_k, weights), 40)


@BOTH
def test_fusion_of_distributions(case: Filled, kind: str) -> None:
    some = Embedding(case.queries.dense[:50], case.queries.sparse[:50])
    for i, ranking in enumerate(case.engines[kind].hybrid(some.dense, some.sparse, depth=20, fusion="dbsf")):
        lanes = [{place: scores[place] for place in ranked(scores, 20)} for scores in (case.cosines[i], case.bm25[i])]
        scores = distributions(lanes)
        assert ids(ranking.best) == ranked(scores, 40)
        expected = [scores[one.position] for one in ranking.best]
        assert [one.score for one in ranking.best] == pytest.approx(expected, abs=1e-4)


@BOTH
def test_more_than_there_is(case: Filled, kind: str) -> None:
    some = Embedding(case.queries.dense[:10], case.queries.sparse[:10])
    for i, ranking in enumerate(case.engines[kind].dense(some.dense, 10 * POINTS)):
        assert ids(ranking.best) == ranked(case.cosines[i], POINTS)
    for i, ranking in enumerate(case.engines[kind].hybrid(some.dense, some.sparse, depth=10 * POINTS)):
        lanes = [ranked(case.cosines[i], POINTS), ranked(case.bm25[i], POINTS)]
        assert ids(ranking.best) == ranked(reciprocal_ranks(lanes, 60), POINTS)


@BOTH
@pytest.mark.parametrize("fusion", ["rrf", "dbsf"])
def test_a_sparse_query_that_finds_nothing_leaves_the_dense_lane(case: Filled, kind: str, fusion: str) -> None:
    engine, query = case.engines[kind], case.queries.dense[1:2]
    for sparse in (SparseVector((), ()), SparseVector((999,), (1.0,))):
        (ranking,) = engine.hybrid(query, [sparse], depth=10, weights=(1.0, 2.0), fusion=fusion)
        assert ranking.lanes["sparse"] == ()
        assert ids(ranking.best) == ids(engine.dense(query, 10)[0].best)


@BOTH
def test_a_query_is_answered_alone_as_in_a_batch(case: Filled, kind: str) -> None:
    some = Embedding(case.queries.dense[:20], case.queries.sparse[:20])
    for i, together in enumerate(zip(*everything(case.engines[kind], some), strict=True)):
        alone = everything(case.engines[kind], Embedding(some.dense[i : i + 1], some.sparse[i : i + 1]))
        for (one,), other in zip(alone, together, strict=True):
            assert ids(one.best) == ids(other.best)
            if kind == "edge":  # numpy rounds differently for another shape; the order stays
                assert one == other


@BOTH
def test_order_of_insertion_leaves_no_trace(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(3)
    points = random_embedding(rng, POINTS, ties=True)
    queries = random_queries(rng, points, 30, ties=True)
    forward = filled(kind, tmp_path / "forward", points)
    shuffled = filled(kind, tmp_path / "shuffled", points, order=rng.permutation(POINTS).tolist())
    for engine in (forward, shuffled):
        assert engine.count() == POINTS
    for one, other in zip(everything(forward, queries), everything(shuffled, queries), strict=True):
        assert [ids(ranking.best) for ranking in one] == [ids(ranking.best) for ranking in other]


@BOTH
def test_all_points_alike_are_ordered_by_position(tmp_path: Path, kind: str) -> None:
    one = np.full((1, WIDTH), WIDTH**-0.5, dtype=np.float32)
    points = Embedding(np.repeat(one, 200, axis=0), (SparseVector((1,), (1.0,)),) * 200)
    engine = filled(kind, tmp_path / "shard", points, order=range(199, -1, -1))
    assert ids(engine.dense(one, 5)[0].best) == [0, 1, 2, 3, 4]
    for fusion in ("rrf", "dbsf"):
        (ranking,) = engine.hybrid(one, [SparseVector((1,), (1.0,))], depth=5, fusion=fusion)
        assert ids(ranking.best) == [0, 1, 2, 3, 4]
        assert ranking.lanes["sparse"] == in_order(ranking.lanes["sparse"])


@BOTH
def test_no_queries(case: Filled, kind: str) -> None:
    none = np.empty((0, WIDTH), dtype=np.float32)
    assert case.engines[kind].dense(none, 5) == case.engines[kind].hybrid(none, [], depth=5) == []


@BOTH
def test_terms_without_idf_are_a_plain_product(tmp_path: Path, kind: str) -> None:
    engine = ENGINES[kind].create(tmp_path / "shard", 2, idf=False, settings=SETTINGS[kind])
    dense = np.eye(2, dtype=np.float32)
    engine.add([0, 1], Embedding(dense, (SparseVector((1, 2), (0.5, 2.0)), SparseVector((2,), (1.5,)))))
    (ranking,) = engine.hybrid(dense[:1], [SparseVector((1, 2), (3.0, 0.5))], depth=5)
    assert [(one.position, one.score) for one in ranking.lanes["sparse"]] == [(0, 2.5), (1, 0.75)]


@BOTH
@pytest.mark.parametrize("idf", [False, True])
def test_a_product_that_is_not_above_zero_is_no_hit(tmp_path: Path, kind: str, idf: bool) -> None:
    engine = ENGINES[kind].create(tmp_path / "shard", 2, idf=idf, settings=SETTINGS[kind])
    alike = np.tile(np.array([[1, 0]], dtype=np.float32), (5, 1))
    weights = (((1, 2), (1.0, -1.0)), ((1, 2), (0.5, 2.0)), ((1,), (0.0,)), ((1,), (-1.0,)), ((7,), (1.0,)))
    engine.add(range(5), Embedding(alike, tuple(SparseVector(*one) for one in weights)))
    for query, found in (((1.0, 1.0), [1]), ((0.0, 0.0), []), ((1.0, 0.0), [0, 1]), ((-1.0, 0.0), [3])):
        for depth in (1, 10):
            (ranking,) = engine.hybrid(alike[:1], [SparseVector((1, 2), query)], depth=depth)
            expected = sorted(found, key=lambda position: (-weights[position][1][0], position))
            assert ids(ranking.lanes["sparse"]) == expected[:depth]
    (ranking,) = engine.hybrid(alike[:1], [SparseVector((1, 2), (0.0, 0.0))], depth=10)
    assert ids(ranking.best) == [0, 1, 2, 3, 4]


@BOTH
def test_maxsim_is_the_sum_of_the_best_cosines(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(2)
    tokens = random_tokens(rng, 30)
    points = random_embedding(rng, 30, ties=False)
    engine = filled(kind, tmp_path / "shard", Embedding(points.dense, points.sparse, tokens))
    (query,) = random_tokens(rng, 1)
    positions = [int(position) for position in rng.permutation(30)[:12]]
    expected = [float((query @ tokens[position].T).max(axis=1).sum()) for position in positions]
    assert engine.maxsim(query, positions) == pytest.approx(expected, abs=1e-5)
    assert engine.maxsim(query, []) == []
    assert ids(engine.dense(points.dense[3:4], 1)[0].best) == [3]


@BOTH
def test_passages_without_token_vectors_are_named(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(2)
    points = random_embedding(rng, 4, ties=False)
    engine = ENGINES[kind].create(tmp_path / "shard", WIDTH, multi_dimension=4, settings=SETTINGS[kind])
    engine.add([0, 1, 2, 3], points)
    with pytest.raises(ValueError, match="position 2 has no token vectors"):
        engine.maxsim(random_tokens(rng, 1)[0], [2])


@BOTH
def test_vectors_that_do_not_fit_are_refused(tmp_path: Path, kind: str) -> None:
    points = random_embedding(np.random.default_rng(9), 3, ties=False)
    engine = ENGINES[kind].create(tmp_path / "shard", WIDTH, multi_dimension=4, settings=SETTINGS[kind])
    broken = Embedding(points.dense.copy(), points.sparse)
    broken.dense[1, 4] = np.nan
    with pytest.raises(ValueError, match="position 8 is not finite"):
        engine.add([7, 8, 9], broken)
    with pytest.raises(ValueError, match=f"have 5 dimensions, the index {WIDTH}"):
        engine.add([7, 8, 9], Embedding(points.dense[:, :5], points.sparse))
    narrow = np.ones((2, 3), dtype=np.float32)
    with pytest.raises(ValueError, match="position 7 have 3 dimensions, the index 4"):
        engine.add([7, 8, 9], Embedding(points.dense, points.sparse, (narrow,) * 3))
    infinite = np.full((2, 4), np.inf, dtype=np.float32)
    with pytest.raises(ValueError, match="token vector at position 7 is not finite"):
        engine.add([7, 8, 9], Embedding(points.dense, points.sparse, (infinite,) * 3))
    assert engine.count() == 0
    with pytest.raises(IndexMismatchError, match=f"has 5 dimensions, the index {WIDTH}"):
        engine.dense(points.dense[:, :5], 1)
    with pytest.raises(IndexMismatchError, match=f"has 5 dimensions, the index {WIDTH}"):
        engine.hybrid(points.dense[:, :5], points.sparse, depth=1)


@BOTH
def test_an_empty_collection_finds_nothing(tmp_path: Path, kind: str) -> None:
    engine = ENGINES[kind].create(tmp_path / "shard", WIDTH, settings=SETTINGS[kind])
    query = random_embedding(np.random.default_rng(9), 1, ties=False)
    assert engine.dense(query.dense, 3)[0].best == ()
    assert engine.hybrid(query.dense, query.sparse, depth=3)[0].best == ()
    with pytest.raises(ValueError, match="at least one query and one point"):
        engine.measure_recall(query.dense, 3)


def test_every_engine_says_its_version() -> None:
    assert all(engine.version().count(".") >= 2 for engine in ENGINES.values())
