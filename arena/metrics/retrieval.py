"""Retrieval against gold ids, one question at a time.

`used`, `ranked`: document ids, best first where order matters; an id counts once, at its first place.
`gold`: the ids that carry the evidence. Without gold every metric is None. Otherwise all are in [0, 1], and
finding nothing scores 0. Definitions: Manning, Raghavan and Schuetze, "Introduction to Information
Retrieval", chapter 8.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice


def recall(used: Iterable[str], gold: Collection[str]) -> float | None:
    """|used & gold| / |gold|."""
    wanted = set(gold)
    return len(wanted.intersection(used)) / len(wanted) if wanted else None


def precision(used: Iterable[str], gold: Collection[str]) -> float | None:
    """|used & gold| / |used|; 0.0 when nothing was used.

    The quotient is undefined there, but there was something to find, and a system must not gain by showing
    nothing.
    """
    wanted, shown = set(gold), set(used)
    if not wanted:
        return None
    return len(wanted & shown) / len(shown) if shown else 0.0


def full_recall(used: Iterable[str], gold: Collection[str]) -> float | None:
    """1.0 if all gold is among `used`, else 0.0: a chain of hops breaks with any of its links."""
    wanted = set(gold)
    return float(wanted.issubset(used)) if wanted else None


def recall_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """|first k & gold| / |gold|; 0.0 for k <= 0."""
    return recall(_first(ranked, k), gold)


def precision_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """|first k & gold| / k, also when fewer than k were ranked; 0.0 for k <= 0."""
    wanted = set(gold)
    if not wanted:
        return None
    return len(wanted.intersection(_first(ranked, k))) / k if k > 0 else 0.0


def hit_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """1.0 if any gold is among the first k, else 0.0, also for k <= 0."""
    wanted = set(gold)
    return float(not wanted.isdisjoint(_first(ranked, k))) if wanted else None


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float | None:
    """1 / rank of the first gold document, ranks from 1; 0.0 when there is none. Its mean is MRR."""
    wanted = set(gold)
    if not wanted:
        return None
    ranks = (rank for rank, doc_id in enumerate(dict.fromkeys(ranked), start=1) if doc_id in wanted)
    return 1.0 / next(ranks, float("inf"))


def _first(ranked: Sequence[str], k: int) -> list[str]:
    return list(islice(dict.fromkeys(ranked), max(k, 0)))
