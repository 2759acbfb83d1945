"""Retrieval as one question sees it: every one is noted, with its start and how long it waited for others."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from arena.protocols import Retriever
from arena.soundness import check_request
from arena.types import LIVE_MODE, Passage, Retrieval, RetrievalRequest


@dataclass(slots=True)
class RetrievalLog:
    """One question's retrievals, from all of its sources. `clock` gives the seconds since the question's start."""

    clock: Callable[[], float]
    _entries: list[Retrieval | None] = field(default_factory=list)
    _sources: dict[tuple[str, str], Retriever] = field(default_factory=dict)

    @property
    def retrievals(self) -> tuple[Retrieval, ...]:
        """The finished retrievals, in the order in which they were asked for, whichever finished first."""
        return tuple(entry for entry in self._entries if entry is not None)

    def brought(self, doc_ids: Collection[str]) -> tuple[Passage, ...]:
        """The passages of these documents that retrievals brought; of a live search none, as nobody keeps its texts."""
        return tuple(
            source.passage(passage_id) for (passage_id, doc_id), source in self._sources.items() if doc_id in doc_ids
        )

    async def note(self, source: Retriever, request: RetrievalRequest) -> Retrieval:
        """What `source` brings, with its place in the order of asking."""
        place = len(self._entries)
        self._entries.append(None)
        started = self.clock()
        retrieval = await source.retrieve(request)
        queue = max(0.0, self.clock() - started - retrieval.seconds.worked)
        noted = replace(retrieval, seconds=replace(retrieval.seconds, started=started, queue=queue))
        self._entries[place] = noted
        if noted.request.mode != LIVE_MODE:
            self._sources |= {(hit.passage_id, hit.doc_id): source for hit in noted.hits}
        return noted


@dataclass(frozen=True, slots=True)
class MeteredRetriever:
    """A retriever whose every retrieval is checked and entered in `log`."""

    inner: Retriever
    log: RetrievalLog

    async def retrieve(self, request: RetrievalRequest) -> Retrieval:
        check_request(request)
        return await self.log.note(self.inner, request)

    def passage(self, passage_id: str) -> Passage:
        return self.inner.passage(passage_id)
