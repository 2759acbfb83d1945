"""Predicted against true supporting documents, in MuSiQue's convention.

Ids are document ids, or paragraph numbers of one record; order and repetition do not matter. Source: Trivedi et al.,
TACL 2022, section 7.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def support_em(predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> float:
    """1.0 if both are the same set, else 0.0."""
    return float(set(predicted) == set(gold))


def support_f1(predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> float:
    """2 |predicted & gold| / (|predicted| + |gold|), in [0, 1]; 1.0 when both are empty."""
    named, wanted = set(predicted), set(gold)
    return 2 * len(named & wanted) / (len(named) + len(wanted)) if named or wanted else 1.0
