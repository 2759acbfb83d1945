"""A chain of hops against the documents that were found.

`hop_order`: one document id per hop, in the order of the decomposition; an id may serve several hops. Where it is
empty a metric is None.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


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
