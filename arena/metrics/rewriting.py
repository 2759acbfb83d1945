"""What asking again brought: the gold documents of later retrievals beside those of the first query."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.metrics.case import Case
from arena.types import GOLD_MODE


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Recall, in [0, 1], of one question that was asked under several queries.

    Of what its first query found (`before`), of what all of them found together (`after`), and of what the last one
    found by itself (`alone`): that is what a strategy has which replaces its passages.
    """

    before: float
    after: float
    alone: float


@dataclass(slots=True)
class RetrievalTally:
    """Retrievals of one cell, on questions with gold documents.

    `wasted` of them brought no gold document that none before had; `needless` of these came when all gold was there.
    `repeated` questions had more than one retrieval; `rewrites`: one entry for each that was asked under other words.
    """

    retrievals: int = 0
    wasted: int = 0
    needless: int = 0
    repeated: int = 0
    rewrites: list[Rewrite] = field(default_factory=list)

    def add(self, case: Case) -> None:
        """Count one question. What a control is handed by construction is no retrieval."""
        gold = frozenset(case.gold.supporting_ids)
        if not gold or case.record.cell.retrieval_mode == GOLD_MODE:
            return
        seen: frozenset[str] = frozenset()
        by_query: dict[str, frozenset[str]] = {}
        for retrieval in case.record.retrievals:
            found = gold.intersection(hit.doc_id for hit in retrieval.hits)
            self.wasted += found <= seen
            self.needless += seen == gold
            seen |= found
            query = retrieval.request.query
            by_query[query] = by_query.get(query, frozenset()) | found
        self.retrievals += len(case.record.retrievals)
        self.repeated += len(case.record.retrievals) > 1
        if len(by_query) > 1:
            first, *_, last = by_query.values()
            self.rewrites.append(Rewrite(*(len(found) / len(gold) for found in (first, seen, last))))
