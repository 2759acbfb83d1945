"""The evidence of a reference answer, claim by claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from arena.types import Claim


def evidence_availability(retrieved: Iterable[str], claims: Sequence[Claim]) -> float | None:
    """Share of the claims all of whose supporting documents were retrieved, in [0, 1].

    A claim without supporting documents is not counted; None when that leaves none.
    """
    there = set(retrieved)
    supported = [there.issuperset(claim.supporting_ids) for claim in claims if claim.supporting_ids]
    return sum(supported) / len(supported) if supported else None
