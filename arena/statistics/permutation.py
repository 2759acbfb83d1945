"""Paired permutation test: could a mean difference be chance?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arena.statistics.intervals import Values

PERMUTATIONS = 10_000

_TIE = 1e-9  # relative to the sum of |differences|: sums of the same terms in another order differ by far less
_BLOCK_CELLS = 2_000_000  # signs held at once: 16 MB


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
    block = max(1, _BLOCK_CELLS // n)
    for start in range(0, permutations, block):
        size = min(block, permutations - start)
        bits = np.frombuffer(rng.bytes(size * -(-n // 8)), dtype=np.uint8).reshape(size, -1)
        kept = np.unpackbits(bits, axis=1, count=n).astype(np.float64)
        extreme += _extreme(2.0 * (kept @ differences) - whole, differences)
    return np.asarray((1.0 + extreme) / (1.0 + permutations), dtype=np.float64)


def _extreme(sums: Values, differences: Values) -> NDArray[np.int64]:
    """(m,) how many of `sums` (B, m) are at least as far from 0 as the sum of `differences` (n, m)."""
    bar = np.abs(differences.sum(axis=0)) - _TIE * np.abs(differences).sum(axis=0)
    return np.asarray(np.count_nonzero(np.abs(sums) >= bar, axis=0), dtype=np.int64)
