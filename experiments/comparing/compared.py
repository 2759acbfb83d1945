"""Several runs held against each other."""

from __future__ import annotations

from dataclasses import dataclass

from arena.leaderboard.build import Leaderboard
from experiments.comparing.differences import Difference


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """One of the runs. `name`: its id, or its folder where two have one id. `n_missing`: answers it does not have."""

    name: str
    folder: str
    fingerprint: str
    started: str
    status: str
    n_missing: int


@dataclass(frozen=True, slots=True)
class Compared:
    """All cells as one leaderboard, each marked with its run (parameter `run`), and what keeps the runs apart.

    `notes`: what a reader must know of it, one sentence each.
    """

    board: Leaderboard
    runs: tuple[ComparedRun, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
