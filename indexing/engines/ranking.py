"""Rankings with one order: score descending, then position ascending. No tie is left to an engine.

A position is the place of a passage in passage-id order, so "then position" reads "then passage id".

The same score comes out of two engines, or of two builds of one engine, with different last bits. So neighbours in
a ranking that lie closer than a millionth of its best score share one score, the highest among them: the order
then rests on what the vectors say and not on rounding. The price is that passages that differ by less than
that, in truth and not by rounding, are ordered by id. What ties on paper ties here, in every engine.
A reranker's scores come rounded to significant digits already, and are ranked as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

RESOLUTION = 1e-6


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
    """The total order of all rankings, with one score for what is closer than the resolution."""
    descending = sorted(ranked, key=lambda one: -one.score)
    noise = _noise(descending)
    levelled: list[Ranked] = []
    before = math.inf
    for position, score in descending:
        level = levelled[-1].score if before - score <= noise else score
        levelled.append(Ranked(position, level))
        before = score
    return by_score(levelled)


def by_score(ranked: Iterable[Ranked]) -> Lane:
    """Score descending, then position ascending, scores as they are: for scores that carry no noise."""
    return tuple(sorted(ranked, key=lambda one: (-one.score, one.position)))


def settled(fetch: Callable[[Sequence[int], int], Sequence[Sequence[Ranked]]], queries: int, limit: int) -> list[Lane]:
    """The first `limit` of the total order for each of `queries` queries.

    `fetch(which, n)` returns the n best of those queries, descending, ties in any order. Where everything fetched
    after the cut still ties with it, a better candidate by position may be missing, so more is fetched,
    up to everything.
    """
    lanes: dict[int, Lane] = {}
    pending: Sequence[int] = range(queries)
    asked = limit + 16  # rarely too few: a wider tie than this costs one more query
    while pending:
        for query, row in zip(pending, fetch(pending, asked), strict=True):
            if len(row) < asked or _gap_after(row, limit):
                lanes[query] = in_order(row)[:limit]
        pending = [query for query in pending if query not in lanes]
        asked *= 8
    return [lanes[query] for query in range(queries)]


def has_ties(lane: Lane) -> bool:
    """Whether two passages of an ordered lane share a score."""
    return any(first.score == second.score for first, second in pairwise(lane))


def _noise(descending: Sequence[Ranked]) -> float:
    return RESOLUTION * abs(descending[0].score) if descending else 0.0


def _gap_after(row: Sequence[Ranked], limit: int) -> bool:
    """Whether some passage at or after the cut scores truly less than the one before it."""
    noise = _noise(row)
    return any(first.score - second.score > noise for first, second in pairwise(row[limit - 1 :]))
