"""Score documents against the gold, one question at a time: as sets, as rankings, as chains of hops, claim by claim.

Sets: `found` and `gold` are ids, of which neither order nor repetition matters. Without gold every metric is None.
Otherwise all are in [0, 1], and finding nothing scores 0. Definitions: Manning, Raghavan and Schuetze, "Introduction to
Information Retrieval", chapter 8.

Rankings: `ranked` are ids, best first; an id counts once, at its first place. Gains are 0 or 1. A ranking without gold
in it, an empty one included, scores 0. nDCG has the discount log2(rank + 1), as in Burges et al., ICML 2005.

Chains: `hop_order` holds one document id per hop, in the order of the decomposition; an id may serve several hops.
Where it is empty a metric is None.

Support in MuSiQue's convention (Trivedi et al., TACL 2022, section 7): ids are document ids, or paragraph numbers of
one record; order and repetition do not matter.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from math import fsum, log2

from arena.types import Claim


def recall(found: Iterable[str], gold: Iterable[str]) -> float | None:
    """|found & gold| / |gold|."""
    wanted = set(gold)
    return len(wanted.intersection(found)) / len(wanted) if wanted else None


def precision(found: Iterable[str], gold: Iterable[str]) -> float | None:
    """|found & gold| / |found|; 0.0 when nothing was found.

    The quotient is undefined there, but there was something to find, and a system must not gain by showing
    nothing.
    """
    wanted, offered = set(gold), set(found)
    if not wanted:
        return None
    return len(wanted & offered) / len(offered) if offered else 0.0


def set_f1(found: Iterable[str], gold: Iterable[str]) -> float | None:
    """2 |found & gold| / (|found| + |gold|), the harmonic mean of precision and recall."""
    wanted, offered = set(gold), set(found)
    return 2 * len(wanted & offered) / (len(wanted) + len(offered)) if wanted else None


def full_recall(found: Iterable[str], gold: Iterable[str]) -> float | None:
    """1.0 if all gold was found, else 0.0: a chain of hops breaks with any of its links."""
    wanted = set(gold)
    return float(wanted.issubset(found)) if wanted else None


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


def hop_coverage(found: Collection[str], hop_order: Sequence[str]) -> float | None:
    """Share of the hops before the first one whose document was not found, in [0, 1].

    A later hop does not help a reader who lacks an earlier one. Of a graph with two roots it is a lower bound.
    """
    broken = broken_hop(found, hop_order)
    if not hop_order:
        return None
    return 1.0 if broken is None else (broken - 1) / len(hop_order)


def broken_hop(found: Collection[str], hop_order: Sequence[str]) -> int | None:
    """Number, from 1, of the first hop whose document was not found; None when the chain is whole."""
    return next((number for number, doc_id in enumerate(hop_order, start=1) if doc_id not in found), None)


def hop_recall(found: Collection[str], hop_order: Sequence[str], number: int) -> float | None:
    """1.0 if the document of hop `number` (from 1) was found, else 0.0; None when there is no such hop."""
    return float(hop_order[number - 1] in found) if 0 < number <= len(hop_order) else None


def evidence_availability(retrieved: Iterable[str], claims: Sequence[Claim]) -> float | None:
    """Share of the claims all of whose supporting documents were retrieved, in [0, 1].

    A claim without supporting documents is not counted; None when that leaves none.
    """
    there = set(retrieved)
    supported = [there.issuperset(claim.supporting_ids) for claim in claims if claim.supporting_ids]
    return sum(supported) / len(supported) if supported else None


def support_em(predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> float:
    """1.0 if both are the same set, else 0.0."""
    return float(set(predicted) == set(gold))


def support_f1(predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> float:
    """2 |predicted & gold| / (|predicted| + |gold|), in [0, 1]; 1.0 when both are empty."""
    named, wanted = set(predicted), set(gold)
    return 2 * len(named & wanted) / (len(named) + len(wanted)) if named or wanted else 1.0
