from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from indexing.engines.ranking import EngineSettings
from indexing.manifest import RECALL_SAMPLED, SAMPLED, lost_passages, read_probes, sampled_positions, write_probes
from tests.random_points import filled, random_embedding


@pytest.mark.parametrize(("passages", "graph", "sampled"), [(5, True, 5), (1_000, False, 32), (1_000, True, 200)])
def test_the_sample_is_spread_evenly_from_end_to_end(passages: int, graph: bool, sampled: int) -> None:
    positions = sorted(sampled_positions(passages, graph=graph))
    assert len(positions) == sampled
    assert (positions[0], positions[-1]) == (0, passages - 1)
    gaps = np.diff(positions)
    assert gaps.max() - gaps.min() <= 1


def test_recall_is_measured_on_more_than_is_kept(tmp_path: Path) -> None:
    points = random_embedding(np.random.default_rng(1), 300, ties=False)
    engine = filled("edge", tmp_path / "shard", points, settings=EngineSettings("edge", search="hnsw"))
    sample = {at: points.dense[at] for at in sampled_positions(300, graph=True)}
    assert len(sample) == RECALL_SAMPLED
    recall = write_probes(tmp_path, engine, sample, graph=True)
    assert recall == engine.measure_recall(np.stack([sample[at] for at in sorted(sample)]), 10)
    kept, dense = read_probes(tmp_path)
    assert len(kept) == len(dense) == SAMPLED
    assert (dense == points.dense[kept]).all()
    assert lost_passages(tmp_path, engine) == []
    engine.close()
