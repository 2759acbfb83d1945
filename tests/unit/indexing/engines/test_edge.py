from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from arena.errors import IndexMismatchError
from arena.protocols import Embedding
from indexing.engines.edge import EdgeEngine
from indexing.engines.ranking import Fusion, Lane, Ranking, fused, has_ties
from tests.random_points import WIDTH, filled, random_embedding, random_queries, random_tokens

POINTS = 300
QUERIES = 100


@pytest.mark.parametrize("weights", [None, (2.0, 0.7)])
def test_reciprocal_ranks_here_and_in_the_engine_give_the_same_bits(
    tmp_path: Path, weights: tuple[float, float] | None
) -> None:
    rng = np.random.default_rng(1)
    points = random_embedding(rng, POINTS, ties=False)
    queries = random_queries(rng, points, QUERIES, ties=False)
    engine = filled("edge", tmp_path / "shard", points)
    found = engine.hybrid(queries.dense, queries.sparse, depth=30, rrf_k=60, weights=weights)
    inside = [ranking for ranking in found if not any(map(has_ties, ranking.lanes.values()))]
    assert len(inside) > QUERIES / 2
    for ranking in inside:
        assert ranking.best == fused(lanes_of(ranking), Fusion(weights=weights))


def test_distributions_here_and_in_the_engine_agree(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    points = random_embedding(rng, POINTS, ties=False)
    queries = random_queries(rng, points, QUERIES, ties=False)
    engine = filled("edge", tmp_path / "shard", points)
    for ranking in engine.hybrid(queries.dense, queries.sparse, depth=30, fusion="dbsf"):
        here = dict(fused(lanes_of(ranking), Fusion("dbsf")))
        assert [one.score for one in ranking.best] == pytest.approx([here[one.position] for one in ranking.best])


def test_a_loaded_shard_answers_as_the_one_that_was_filled(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    points = random_embedding(rng, 50, ties=True)
    tokens = random_tokens(rng, 50)
    engine = filled("edge", tmp_path / "shard", Embedding(points.dense, points.sparse, tokens))
    queries = random_queries(rng, points, 10, ties=True)
    before = engine.hybrid(queries.dense, queries.sparse, depth=10), engine.maxsim(tokens[0], [3, 1])
    engine.close()
    loaded = EdgeEngine.load(tmp_path / "shard")
    assert before == (loaded.hybrid(queries.dense, queries.sparse, depth=10), loaded.maxsim(tokens[0], [3, 1]))
    with pytest.raises(IndexMismatchError, match="has 3 dimensions, the index 16"):
        loaded.dense(queries.dense[:, :3], 1)


def test_a_question_the_shard_cannot_answer_is_named(tmp_path: Path) -> None:
    engine = filled("edge", tmp_path / "shard", random_embedding(np.random.default_rng(5), 8, ties=False))
    with pytest.raises(IndexMismatchError, match=r"cannot answer: .*multi.*; `arena index build`"):
        engine.maxsim(np.ones((1, 4), dtype=np.float32), [0])


def test_a_large_slice_is_stored_whole(tmp_path: Path) -> None:
    """Token vectors of more than one upsert, every point of its own size."""
    tokens = tuple(np.full((60 + row, 4_000), 0.1, dtype=np.float32) for row in range(10))
    points = random_embedding(np.random.default_rng(1), 10, ties=False)
    engine = EdgeEngine.create(tmp_path / "shard", WIDTH, multi_dimension=4_000)
    engine.add(range(10), Embedding(points.dense, points.sparse, tokens))
    engine.flush()
    assert engine.count() == 10
    assert engine.maxsim(tokens[0][:2], range(10)) == pytest.approx([2.0] * 10, abs=1e-4)
    engine.close()


@pytest.mark.parametrize("content", [None, b"", b"{", b"{}"])
def test_a_folder_without_a_shard_is_an_os_error(tmp_path: Path, content: bytes | None) -> None:
    folder = tmp_path / "shard"
    if content is not None:
        folder.mkdir()
        (folder / "edge_config.json").write_bytes(content)
    with pytest.raises(OSError, match="cannot read"):
        EdgeEngine.load(folder)


def test_a_folder_that_is_taken_is_an_os_error(tmp_path: Path) -> None:
    EdgeEngine.create(tmp_path / "shard", WIDTH).close()
    with pytest.raises(OSError, match="cannot create"):
        EdgeEngine.create(tmp_path / "shard", WIDTH)


def lanes_of(ranking: Ranking) -> tuple[Lane, Lane]:
    return ranking.lanes["dense"], ranking.lanes["sparse"]
