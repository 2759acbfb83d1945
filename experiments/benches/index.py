"""`arena bench index`: what building and reopening an engine takes, given the vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.benches.retrieval import SIZES, Say
from experiments.benches.retrieval_trial import EDGE, SETTINGS, Trial, run_apart


def measure_index(points: Sequence[int] = SIZES, *, seed: int = 7, say: Say = lambda line: None) -> dict[str, Any]:
    """Build and reopen seconds and peak memory of each engine at each size, each in a process of its own.

    `say` hears of each trial before it starts. On two idle cores the defaults take some 6 minutes, most of it
    for the graph of 100,000 points, and `points=(5_000, 21_100)` one.
    """
    trials = []
    for size in points:
        for engine in EDGE:
            say(f"{engine} with {size:,} points")
            trials.append(run_apart(Trial(engine, size, 0, 0, seed)))
    return {"settings": {**SETTINGS, "seed": seed}, "trials": trials}
