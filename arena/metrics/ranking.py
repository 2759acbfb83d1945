"""A ranking of documents against the gold, one question at a time.

`ranked`: ids, best first; an id counts once, at its first place. Gains are 0 or 1. Without gold every metric is None.
Otherwise all are in [0, 1], and a ranking without gold in it, an empty one included, scores 0. Definitions: Manning,
Raghavan and Schuetze, "Introduction to Information Retrieval", chapter 8; nDCG with the discount log2(rank + 1) as in
Burges et al., ICML 2005.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from math import fsum, log2

from arena.metrics.retrieval import recall


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


def ndcg_at_k(ranked: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Discounted gain of the first k over that of the best ranking, which has its gold first; 0.0 for k <= 0."""
    wanted = set(gold)
    if not wanted:
        return None
    ideal = fsum(_discount(rank) for rank in range(1, min(len(wanted), k) + 1))
    return fsum(_discount(rank) for rank in _gold_ranks(ranked, wanted) if rank <= k) / ideal if k > 0 else 0.0


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float | None:
    """1 / rank of the first gold document, ranks from 1; 0.0 when there is none. Its mean is MRR."""
    wanted = set(gold)
    return 1.0 / next(_gold_ranks(ranked, wanted), float("inf")) if wanted else None


def average_precision(ranked: Sequence[str], gold: Collection[str]) -> float | None:
    """Mean over the gold of the precision at its rank, 0 for gold that was not ranked. Its mean is MAP."""
    wanted = set(gold)
    if not wanted:
        return None
    return fsum(found / rank for found, rank in enumerate(_gold_ranks(ranked, wanted), start=1)) / len(wanted)


def _first(ranked: Sequence[str], k: int) -> list[str]:
    return list(islice(dict.fromkeys(ranked), max(k, 0)))


def _gold_ranks(ranked: Sequence[str], wanted: Collection[str]) -> Iterator[int]:
    return (rank for rank, doc_id in enumerate(dict.fromkeys(ranked), start=1) if doc_id in wanted)


@lru_cache(maxsize=1_024)
def _discount(rank: int) -> float:
    return 1.0 / log2(rank + 1)
