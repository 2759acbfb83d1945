"""Ranks that contestants may have, where some differences are more than chance and others are not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PossibleRanks:
    """The best and the worst rank that a contestant may have, counted from 1."""

    best: int
    worst: int


def possible_ranks(n: int, wins: Iterable[tuple[int, int]]) -> list[PossibleRanks]:
    """Of each of `n` contestants: 1 + those that beat it .. n - those that it beats.

    `wins`: (winner, loser), each pair at most once. Where the chance of any false win is at most 5 %, all true ranks
    lie in these ranges with 95 % confidence (Al Mohamad, Goeman and van Zwet 2022, Biometrics 78).
    """
    beaten_by, beats = [0] * n, [0] * n
    for winner, loser in wins:
        beats[winner] += 1
        beaten_by[loser] += 1
    return [PossibleRanks(1 + above, n - below) for above, below in zip(beaten_by, beats, strict=True)]
