"""Rankings with one order: score descending, then position ascending. No tie is left to an engine.

A position is the place of a passage in passage-id order, so "then position" reads "then passage id".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Ranked(NamedTuple):
    """One passage and its score in some ranking."""

    position: int
    score: float


Lane = tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer to one query, best first, and the lanes it came from, cut at their depth."""

    best: Lane
    lanes: Mapping[str, Lane]


def in_order(ranked: Iterable[Ranked]) -> Lane:
    """The total order of all rankings."""
    return tuple(sorted(ranked, key=lambda r: (-r.score, r.position)))


def settled(fetch: Callable[[Sequence[int], int], Sequence[Sequence[Ranked]]], queries: int, limit: int) -> list[Lane]:
    """The first `limit` of the total order for each of `queries` queries.

    `fetch(which, n)` returns the n best of those queries, descending, ties in any order. Where the last one
    fetched still ties with the cut, a better candidate by position may be missing, so more is fetched, up
    to everything.
    """
    lanes: dict[int, Lane] = {}
    pending: Sequence[int] = range(queries)
    asked = limit + 16  # rarely too few: a wider tie than this costs one more query
    while pending:
        for query, row in zip(pending, fetch(pending, asked), strict=True):
            if len(row) < asked or row[-1].score < row[limit - 1].score:
                lanes[query] = in_order(row)[:limit]
        pending = [query for query in pending if query not in lanes]
        asked *= 8
    return [lanes[query] for query in range(queries)]


def has_ties(lane: Lane) -> bool:
    """Whether two passages of an ordered lane share a score."""
    return any(first.score == second.score for first, second in pairwise(lane))


def reciprocal_rank_fusion(lanes: Iterable[Lane], rrf_k: int) -> Lane:
    """Sum over the lanes of 1 / (rrf_k + rank), rank from 0 (Cormack et al., 2009, count from 1).

    In float32, lane by lane, as Qdrant adds it up: both give the same bits.
    """
    scores: dict[int, np.float32] = {}
    for lane in lanes:
        for rank, ranked in enumerate(lane):
            share = np.float32(1) / np.float32(rrf_k + rank)
            scores[ranked.position] = scores.get(ranked.position, np.float32(0)) + share
    return in_order(Ranked(position, float(score)) for position, score in scores.items())
