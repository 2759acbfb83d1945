"""Which questions of a cell become traces: those one wants to open."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable

from arena.metrics.failures import CLASSES
from arena.plan import Key

FAILED, WRONG, OTHER = 0, 1, 2
"""Which come first."""


def order_of(outcome: str, failure: str | None) -> int:
    """Failed questions first, then those whose answer went wrong, then the rest. `failure`: a name of `CLASSES`."""
    if outcome == "failed":
        return FAILED
    found = CLASSES.get(failure) if failure else None
    return WRONG if found and found.is_failure else OTHER


def choose(questions: Iterable[tuple[Key, int]], limit: int) -> frozenset[Key]:
    """At most `limit` of every cell, in the order of `order_of`; among equals by a hash of the question's id.

    So the choice is arbitrary and yet always the same, and cells that fail alike show the same questions.
    """
    by_cell: dict[str, list[tuple[int, str, Key]]] = {}
    for key, order in questions:
        by_cell.setdefault(key[0], []).append((order, hashlib.sha256(key[1].encode()).hexdigest(), key))
    return frozenset(key for ranked in by_cell.values() for _, _, key in heapq.nsmallest(limit, ranked))
