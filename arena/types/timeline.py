"""How long other questions held one up."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Activity:
    """One call or retrieval: begun at `start` on its question's clock (None = unknown), it waits, then is served.

    The waits of a call that was tried again are taken together, before all of its service: exact for
    what `held_up_seconds` makes of a call that nothing else accompanies, close for others.
    """

    start: float | None
    waiting: float
    service: float


def held_up_seconds(activities: Sequence[Activity]) -> float:
    """Seconds in which a question waited and did nothing else: some activity waited and none was served.

    Waits that overlap count once, and a wait for the question's own other calls not at all. The wait of
    an activity without a start counts in full.
    """
    placed = [(one.start, one) for one in activities if one.start is not None]
    waits = [(start, start + one.waiting) for start, one in placed]
    services = [(start + one.waiting, start + one.waiting + one.service) for start, one in placed]
    unplaced = sum(one.waiting for one in activities if one.start is None)
    return max(0.0, _covered(waits + services) - _covered(services)) + unplaced


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """Length of the union of `spans`, each (from, to)."""
    covered, reached = 0.0, -math.inf
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return covered
