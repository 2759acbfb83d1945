"""Where in its question's time every retrieval, call and decision lies, in seconds since its start."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from arena.types import RunRecord
from arena.types.evidence import Activity

Period = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Moment:
    """When a decision was taken.

    `of_its_call`: at the end of the call that it rests on; else guessed from the order of decisions, which is all that
    the journal keeps of their time.
    """

    seconds: float
    of_its_call: bool


@dataclass(frozen=True, slots=True)
class Timeline:
    """One entry for each of the record's retrievals, calls and decisions, in the record's order."""

    retrievals: tuple[Period, ...]
    calls: tuple[Period, ...]
    decisions: tuple[Moment, ...]


def timeline(record: RunRecord) -> Timeline:
    """What the journal tells of when things happened; an activity without a start follows the one before it."""
    retrievals = _periods([one.seconds.activity for one in record.retrievals])
    calls = _periods([one.activity for one in record.calls])
    anchors = _anchors(record, calls)
    ends = sorted(end for _, end in (*retrievals, *calls))
    return Timeline(retrievals, calls, _moments(anchors, ends))


def _periods(activities: Sequence[Activity]) -> tuple[Period, ...]:
    periods: list[Period] = []
    for one in activities:
        start = one.start if one.start is not None else periods[-1][1] if periods else 0.0
        periods.append((start, start + one.waiting + one.service))
    return tuple(periods)


def _anchors(record: RunRecord, calls: Sequence[Period]) -> list[float | None]:
    """The end of the call that a decision rests on, where its node asked as often as it decided; else None."""
    ends: dict[str, list[float]] = {}
    for call, (_, end) in zip(record.calls, calls, strict=True):
        ends.setdefault(call.role, []).append(end)
    times = Counter(decision.node for decision in record.decisions)
    left = {node: iter(ends[node]) for node, n in times.items() if len(ends.get(node, ())) == n}
    return [next(left[decision.node]) if decision.node in left else None for decision in record.decisions]


def _moments(anchors: Sequence[float | None], ends: Sequence[float]) -> tuple[Moment, ...]:
    """Decisions without an anchor are spread, in order, over the ends of activities between their neighbours."""
    moments: list[Moment] = []
    reached = 0.0
    for _, some in groupby(anchors, lambda anchor: anchor is None):
        group = list(some)
        known = [anchor for anchor in group if anchor is not None]
        if known:
            moments += [Moment(anchor, of_its_call=True) for anchor in known]
            reached = max(reached, *known)
        else:
            after = anchors[len(moments) + len(group) :]
            bound = next((anchor for anchor in after if anchor is not None), math.inf)
            between = [end for end in ends if reached < end <= bound] or [reached]
            moments += [
                Moment(between[_share(i, len(group), len(between))], of_its_call=False) for i in range(len(group))
            ]
    return tuple(moments)


def _share(index: int, n: int, places: int) -> int:
    """The place, of so many, for the thing `index` of `n`, evenly and in order; the last thing gets the last place."""
    return math.ceil((index + 1) * places / n) - 1
