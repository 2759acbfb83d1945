"""A sample of an index's own vectors, kept beside it: each must still find the passage it was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from arena.protocols import Vectors
from indexing.engines import Engine

PROBES = "probes.npz"
SAMPLED = 32
RECALL_SAMPLED = 200  # two hundred times ten neighbours: a recall of 0.95 is known to 0.01 or so
FOUND = 1 - 1e-3  # share of its own score that a passage must have when it is asked for by its own vector
REACH = 10  # places among which a passage must find itself: its doubles may come first


def sampled_positions(passages: int, *, graph: bool) -> frozenset[int]:
    """Up to `SAMPLED` positions, evenly spread; up to `RECALL_SAMPLED` where the recall of a `graph` is measured."""
    return frozenset(_spread(passages, RECALL_SAMPLED if graph else SAMPLED))


def write_probes(folder: Path, engine: Engine, vectors: Mapping[int, Vectors], *, graph: bool) -> float | None:
    """Keep up to `SAMPLED` of the sampled dense vectors: those by which the finished engine finds their passage.

    Gives the recall of the ten nearest over the sample, where a `graph` may miss some of them.
    """
    positions = sorted(vectors)
    probes = [positions[at] for at in _spread(len(positions), SAMPLED)]
    found = _found(engine, probes, np.stack([vectors[position] for position in probes]))
    kept = [position for position in probes if position in found]
    dense = np.stack([vectors[position] for position in kept]) if kept else np.empty((0, 0), np.float32)
    np.savez(folder / PROBES, positions=np.asarray(kept, np.int64), dense=dense)
    if not graph:
        return None
    return engine.measure_recall(np.stack([vectors[position] for position in positions]), REACH)


def read_probes(folder: Path) -> tuple[list[int], Vectors]:
    """Sampled positions and their dense vectors (n, d)."""
    with np.load(folder / PROBES, allow_pickle=False) as archive:
        arrays: dict[str, NDArray[Any]] = dict(archive)
    return arrays["positions"].tolist(), cast("Vectors", arrays["dense"])


def lost_passages(folder: Path, engine: Engine) -> list[int]:
    """Sampled positions that their own vector no longer finds."""
    positions, dense = read_probes(folder)
    found = _found(engine, positions, dense)
    return [position for position in positions if position not in found]


def _spread(length: int, most: int) -> list[int]:
    """Up to `most` places in a row of `length`, evenly spread, in order."""
    places: list[int] = np.linspace(0, length - 1, min(most, length), dtype=np.int64).tolist()
    return places


def _found(engine: Engine, positions: Sequence[int], dense: Vectors) -> set[int]:
    if not positions:
        return set()
    rankings = engine.dense(dense, REACH)
    return {
        position
        for position, vector, ranking in zip(positions, dense, rankings, strict=True)
        if any(one.position == position and one.score > FOUND * engine.own_score(vector) for one in ranking.best)
    }
