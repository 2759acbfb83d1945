from __future__ import annotations

import numpy as np
import pytest

from experiments.bench.made_up import DIMENSION, QUERY_TERMS, SLICE, TERMS, queries, slices
from experiments.bench.retrieval import measure_index, measure_retrieval


def test_points_have_the_shape_of_bge_m3s() -> None:
    positions: list[int] = []
    for part, embedding in slices(SLICE + 10, seed=3):
        positions += part
        assert embedding.dense.shape == (len(part), DIMENSION)
        assert embedding.dense.dtype == np.float32
        assert np.linalg.norm(embedding.dense, axis=1) == pytest.approx(np.ones(len(part)), abs=1e-5)
        assert all(len(set(terms.indices)) == len(terms.indices) <= TERMS for terms in embedding.sparse)
        assert np.mean([len(terms.indices) for terms in embedding.sparse]) > 0.9 * TERMS
    assert positions == list(range(SLICE + 10))


def test_the_same_seed_makes_the_same_points_and_queries() -> None:
    (_, one), (_, other) = next(slices(300, seed=3)), next(slices(500, seed=3))
    assert (one.dense == other.dense).all()
    assert one.sparse == other.sparse
    assert (queries(300, 4, seed=3).dense == queries(300, 4, seed=3).dense).all()
    assert not (one.dense == next(slices(300, seed=4))[1].dense).any()


def test_queries_are_near_points() -> None:
    (_, points), asked = next(slices(200, seed=3)), queries(200, 20, seed=3)
    best = (asked.dense @ points.dense.T).max(axis=1)
    assert (best > 0.7).all()
    assert all(len(terms.indices) == QUERY_TERMS for terms in asked.sparse)


def test_every_engine_is_measured_in_every_mode() -> None:
    said: list[str] = []
    measured = measure_retrieval([200], queries=2, say=said.append)
    assert [trial["engine"] for trial in measured["trials"]] == ["edge-exact", "edge-hnsw", "local-mode"]
    assert said == [f"{engine} with 200 points" for engine in ("edge-exact", "edge-hnsw", "local-mode")]
    for trial in measured["trials"]:
        for name in ("dense_p50_ms", "dense_p95_ms", "hybrid_p50_ms", "hybrid_p95_ms", "build_seconds"):
            assert trial[name] > 0
        assert 30 < trial["peak_memory_mb"] < 1_000
    assert measured["trials"][1]["recall_at_10"] > 0.9
    assert measured["times_faster_than_local_mode"]["200"] > 1
    assert measured["growth"]["points"] == 1


def test_an_index_is_measured_without_queries() -> None:
    for trial in measure_index([100])["trials"]:
        assert trial["dense_p50_ms"] is None
        assert trial["reopen_seconds"] > 0
