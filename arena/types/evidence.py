"""A retrieval: what was asked of an index, what came back, and how long it waited for other questions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

GOLD_MODE = "gold"
"""Retrieval mode of a control that is handed the gold documents; nobody can retrieve like this."""

NO_RETRIEVAL_MODE = "none"
"""Retrieval mode of a cell that never retrieves."""

LIVE_MODE = "live"
"""Mode of a retrieval from a live search: of what it brings, no dataset keeps the text."""

IMPORTED_MODE = "imported"
"""Retrieval mode of a cell whose records come from a file: how it retrieved is its own affair."""

OWN_MODE = "own"
"""Retrieval mode of a system of the user's own that is asked live: how it retrieves is its own affair."""

FOREIGN_MODES = frozenset({IMPORTED_MODE, OWN_MODE})
"""Modes of cells of which only that is known which their systems report."""

UNMAPPED = "unmapped:"
"""How the id of a document begins that a foreign system names and the dataset does not hold."""


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


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """One question put to the index. Two equal requests give equal hits.

    `k`: passages wanted (None = not said, of a request that another system made). What follows is None where the mode
    has no use for it. `depth`: candidates per lane before fusion, and fused candidates a reranker sees. `fusion`: `rrf`
    or `dbsf`; `rrf_k`: constant of reciprocal rank fusion; `lane_weights`: of the dense and the sparse lane (None =
    equal). `threshold`: reranker score below which a candidate is dropped, on that reranker's own scale.
    """

    query: str
    mode: str
    k: int | None
    depth: int | None = None
    rrf_k: int | None = None
    fusion: str | None = None
    lane_weights: tuple[float, float] | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class LaneHit:
    """Where a lane (dense, sparse, rerank) placed a passage: rank from 1, score on the lane's own scale."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One retrieved passage: rank from 1, the mode's final score, and its place in each lane.

    `span`: the part of its document that it is, in characters, end exclusive (None = all of it).
    """

    passage_id: str
    doc_id: str
    rank: int
    score: float
    lanes: Mapping[str, LaneHit] = field(default_factory=dict)
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """What of one document stood in the prompt that wrote an answer.

    `spans`: parts of its text, in characters, end exclusive, in the order shown, under its title. `text`: title and
    text as they were shown, where they are no spans of a text that the dataset keeps (a live search, a passage that was
    rewritten); None = the spans say it all.
    """

    doc_id: str
    spans: tuple[tuple[int, int], ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RetrievalSeconds:
    """Where the time of one retrieval went.

    `embed` is what embedding the query took now; `known_embed` is what it took when it was first embedded,
    if its vector was kept since (then `embed` is 0), so that a cell is not faster for coming second.
    `queue` is waiting for other retrievals. `started` is when it was asked for, since the start of its
    question (None = outside one).
    """

    embed: float = 0.0
    search: float = 0.0
    rerank: float = 0.0
    known_embed: float = 0.0
    queue: float = 0.0
    started: float | None = None

    @property
    def worked(self) -> float:
        """What this retrieval itself took now."""
        return self.embed + self.search + self.rerank

    @property
    def activity(self) -> Activity:
        return Activity(self.started, waiting=self.queue, service=self.worked)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A request, its hits (best first) and the seconds spent.

    `dropped`: what a reranker scored under the threshold, best first; with hits empty, it emptied the context.
    `beyond`: ids of further candidates, best first, that `k` had no room for.
    """

    request: RetrievalRequest
    hits: tuple[Hit, ...]
    seconds: RetrievalSeconds = RetrievalSeconds()
    dropped: tuple[Hit, ...] = ()
    beyond: tuple[str, ...] = ()
