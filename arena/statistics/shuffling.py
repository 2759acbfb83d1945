"""Do answers go with their own questions, or would they go with any? A permutation test of which belongs to which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from arena.statistics.intervals import Values

SHUFFLES = 2_000

_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Crossed:
    """`scores` (m, m): answer i against the gold of question j, among questions that may be exchanged.

    `rows` (m,): their places among all questions.
    """

    rows: NDArray[np.intp]
    scores: Values


def deal(rows: Sequence[int], most: int, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Parts of `rows` of nearly equal size, none larger than `most`, drawn at random; rows in order inside each."""
    shuffled = rng.permutation(np.array(rows, dtype=np.intp))
    return [np.sort(part) for part in np.array_split(shuffled, -(-len(rows) // most))] if len(rows) else []


def chance_levels(blocks: Iterable[Crossed], n: int) -> Values:
    """(n,) the mean score of each answer against the gold of the others of its block; NaN where there is no other."""
    levels = np.full(n, np.nan)
    for block in blocks:
        others = len(block.rows) - 1
        if others:
            own = block.scores.diagonal()
            sums = [fsum(row) for row in block.scores.tolist()]
            levels[block.rows] = (np.array(sums) - own) / others
    return levels


def shuffle_test(
    blocks: Sequence[Crossed], members: NDArray[np.bool_], rng: np.random.Generator, shuffles: int = SHUFFLES
) -> Values:
    """(g,) one-sided p of each group of questions: is its sum of own scores more than chance?

    Under the null hypothesis an answer has nothing to do with the question that it was given to, so that the gold of a
    block might as well be dealt to its questions in any order. p = (1 + orders whose sum is at least the one seen) /
    (1 + orders drawn), never 0. NaN for a group none of whose questions has another in its block.

    Args:
        blocks: of questions whose gold may be exchanged, each question in one.
        members: (n, g) which of the n questions belong to which group.
        rng: draws the orders.
        shuffles: how many.
    """
    n_groups = members.shape[1]
    sums, seen, spread = np.zeros((shuffles, n_groups)), np.zeros(n_groups), np.zeros(n_groups)
    tested = np.zeros(n_groups, dtype=bool)
    for block in blocks:
        size = len(block.rows)
        if size < 2:
            continue
        mine = members[block.rows].astype(np.float64)
        orders = rng.permuted(np.tile(np.arange(size, dtype=np.intp), (shuffles, 1)), axis=1)
        sums += block.scores[np.arange(size), orders] @ mine
        seen += block.scores.diagonal() @ mine
        spread += block.scores.max(axis=1) @ mine
        tested |= mine.any(axis=0)
    extreme = np.count_nonzero(sums >= seen - _TIE * (1.0 + spread), axis=0)
    return np.where(tested, (1.0 + extreme) / (1.0 + shuffles), np.nan)
