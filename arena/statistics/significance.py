"""Whether differences could be chance: permutation tests, many tests at once, ranks, and detectable differences.

The paired test asks whether a mean difference could be chance. A second test asks whether answers go with their own
questions or would go with any. Holm's correction adjusts the p-values of a family. Ranks are the range of places that a
contestant may have, where some differences are more than chance and others are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.statistics.intervals import Values, blocks

PERMUTATIONS = 10_000

_TIE = 1e-9  # relative to the sum of |differences|: sums of the same terms in another order differ by far less


def paired_permutation(differences: Values, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> Values:
    """Two-sided p (m,) of each column of `differences` (n, m), NaN = no pair; NaN for a column without any.

    Under the null hypothesis the two cells are interchangeable on every question, so that each difference might as well
    have the other sign. p = share of sign assignments whose sum is at least as far from 0 as the one seen, ties
    included. All 2^k assignments of the k differences other than 0 are counted where they are no more than
    `permutations`; else that many are drawn, and p = (1 + extreme) / (1 + drawn): never 0. Every column gets the same
    signs. Fisher 1935; Phipson and Smyth 2010.

    Raises:
        ValueError: `permutations` is below 1.
    """
    if permutations < 1:
        raise ValueError(f"need permutations >= 1, not {permutations!r}")
    p = np.full(differences.shape[1], np.nan)
    known = ~np.isnan(differences)
    filled = np.where(known, differences, 0.0)
    sizes = np.count_nonzero(filled, axis=0)
    few = sizes < permutations.bit_length()  # 2^sizes <= permutations
    for column in np.flatnonzero(few & known.any(axis=0)):
        p[column] = _exact(filled[filled[:, column] != 0.0, column])
    if not few.all():
        p[~few] = _sampled(filled[:, ~few], rng, permutations)
    return p


def _exact(differences: Values) -> float:
    """Over all sign assignments of `differences` (k,), k small; 1 for k = 0."""
    k = differences.size
    signs = 1.0 - 2.0 * (np.arange(2**k)[:, np.newaxis] >> np.arange(k) & 1)
    column = differences[:, np.newaxis]
    return int(_extreme(signs @ column, column)[0]) / len(signs)


def _sampled(differences: Values, rng: np.random.Generator, permutations: int) -> Values:
    n = len(differences)
    extreme = np.zeros(differences.shape[1], dtype=np.int64)
    whole = differences.sum(axis=0)
    for block in blocks(permutations, n):
        size = block.stop - block.start
        bits = np.frombuffer(rng.bytes(size * -(-n // 8)), dtype=np.uint8).reshape(size, -1)
        kept = np.unpackbits(bits, axis=1, count=n).astype(np.float64)
        extreme += _extreme(2.0 * (kept @ differences) - whole, differences)
    return np.asarray((1.0 + extreme) / (1.0 + permutations), dtype=np.float64)


def _extreme(sums: Values, differences: Values) -> NDArray[np.int64]:
    """(m,) how many of `sums` (B, m) are at least as far from 0 as the sum of `differences` (n, m)."""
    bar = np.abs(differences.sum(axis=0)) - _TIE * np.abs(differences).sum(axis=0)
    return np.asarray(np.count_nonzero(np.abs(sums) >= bar, axis=0), dtype=np.int64)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order of `p`.

    Where they are compared with a level, the chance of one false finding or more in the family is at most that level,
    whatever the tests have to do with each other. Holm 1979.
    """
    adjusted = [1.0] * len(p)
    worst = 0.0
    for place, index in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        worst = max(worst, min(1.0, (len(p) - place) * p[index]))
        adjusted[index] = worst
    return adjusted


SHUFFLES = 2_000


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


def possible_ranks(n: int, wins: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The best and the worst rank of each of `n` contestants: 1 + those that beat it, n - those that it beats.

    `wins`: (winner, loser), each pair at most once. Where the chance of any false win is at most 5 %, all true ranks
    lie in these ranges with 95 % confidence (Al Mohamad, Goeman and van Zwet 2022, Biometrics 78).
    """
    beaten_by, beats = [0] * n, [0] * n
    for winner, loser in wins:
        beats[winner] += 1
        beaten_by[loser] += 1
    return [(1 + above, n - below) for above, below in zip(beaten_by, beats, strict=True)]


ASSUMED_DISCORDANCE = 0.2
"""Share of questions on which one of two cells is right and the other wrong, before anything is measured."""


def detectable_difference(n: int, sd: float, power: float = 0.8, level: float = 0.05) -> float:
    """The true mean difference that a two-sided paired test at `level` finds with probability `power`.

    (z of 1 - level / 2 + z of power) * sd / sqrt(n), with `sd` that of the differences per question, over `n` of them;
    normal approximation (Miller 2024, arXiv 2411.00640). For one pair that was chosen beforehand: among m pairs, the
    first step of Holm's method asks for level / m.

    Raises:
        ValueError: n < 1, sd < 0, or `power` or `level` is not inside (0, 1).
    """
    if n < 1 or sd < 0.0 or not 0.0 < power < 1.0 or not 0.0 < level < 1.0:
        raise ValueError(
            f"need n >= 1, sd >= 0, and power and level inside (0, 1), not {n!r}, {sd!r}, {power!r}, {level!r}"
        )
    normal = NormalDist()
    return (normal.inv_cdf(1.0 - level / 2.0) + normal.inv_cdf(power)) * sd / sqrt(n)


def discordance_sd(discordance: float) -> float:
    """Standard deviation of the difference of two binary scores, given the share of questions on which they differ.

    As often one way as the other: at the null hypothesis.

    Raises:
        ValueError: `discordance` is outside [0, 1].
    """
    if not 0.0 <= discordance <= 1.0:
        raise ValueError(f"a share of questions lies in [0, 1], not {discordance!r}")
    return sqrt(discordance)
