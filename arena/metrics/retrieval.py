"""Sets of documents against the gold: what was retrieved, shown or cited, one question at a time.

`found`, `gold`: ids, of which neither order nor repetition matters. Without gold every metric is None. Otherwise all
are in [0, 1], and finding nothing scores 0. Definitions: Manning, Raghavan and Schuetze, "Introduction to Information
Retrieval", chapter 8.
"""

from __future__ import annotations

from collections.abc import Iterable


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
