"""Which evidence the answer was written without, and how far on its way to the reader it got."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from arena.metrics.case import Case
from arena.metrics.decisions import had_no_room, route_needed, route_taken, was_capped
from arena.metrics.hops import broken_hop
from arena.types import GOLD_MODE, Retrieval

Reached = Literal["hits", "dropped", "beyond", "nowhere"]

_PIECE = re.compile(r"#\d{4,}$")  # pieces are named DOCUMENT#0000, DOCUMENT#0001, ...


@dataclass(frozen=True, slots=True)
class Missing:
    """The first document of the chain that was not shown. `hop`: its number from 1 (None: the order is not known).

    `alone`: no evidence that could lead to it was shown either.
    """

    doc_id: str
    hop: int | None
    alone: bool


def first_missing(case: Case) -> Missing | None:
    """None when all evidence was shown, or when none is known. Without an order of hops: the first that is named."""
    gold, shown = case.gold, set(case.record.answer.used_ids if case.record.answer else ())
    hop = broken_hop(shown, gold.hop_order or ())
    if hop is not None and gold.hop_order:
        return Missing(gold.hop_order[hop - 1], hop, alone=hop == 1)
    doc_id = next((doc_id for doc_id in gold.supporting_ids if doc_id not in shown), None)
    return None if doc_id is None else Missing(doc_id, None, alone=shown.isdisjoint(gold.supporting_ids))


def why_missing(case: Case, missing: Missing) -> str:
    """The class of a wrong answer that was written without `missing`: the furthest it got in any retrieval decides."""
    record = case.record
    if not record.retrievals or (route_taken(record) == "B" and route_needed(case.question.hops) == "C"):
        return "wrong_route"
    reached = furthest(missing.doc_id, record.retrievals)
    if reached == "hits":
        return "stopped_by_cap" if had_no_room(record) else "dropped_by_grader"
    if was_capped(record) and _still_finding(record.retrievals, case.gold.supporting_ids):
        return "stopped_by_cap"
    if reached == "nowhere":
        if record.cell.retrieval_mode == GOLD_MODE:
            return "withheld_by_control"
        return "index_miss" if missing.alone else "incomplete_chain"
    return "dropped_by_reranker" if reached == "dropped" else "rank_miss"


def furthest(doc_id: str, retrievals: Iterable[Retrieval]) -> Reached:
    """How far a document got at best: among the hits, dropped by a reranker's threshold, or beyond k."""
    found: set[Reached] = {"nowhere"}
    for retrieval in retrievals:
        if any(hit.doc_id == doc_id for hit in retrieval.hits):
            return "hits"
        if any(hit.doc_id == doc_id for hit in retrieval.dropped):
            found.add("dropped")
        if any(_is_of(passage_id, doc_id) for passage_id in retrieval.beyond):
            found.add("beyond")
    order: tuple[Reached, ...] = ("beyond", "dropped", "nowhere")
    return next(place for place in order if place in found)


def _is_of(passage_id: str, doc_id: str) -> bool:
    """Whether a passage is the document or a piece of it."""
    return passage_id == doc_id or _PIECE.sub("", passage_id) == doc_id


def _still_finding(retrievals: Sequence[Retrieval], gold: Sequence[str]) -> bool:
    """Whether the last of several retrievals brought gold that none before it had: one more might have, too."""
    *before, last = ({hit.doc_id for hit in retrieval.hits}.intersection(gold) for retrieval in retrievals)
    return bool(before) and bool(last.difference(*before))
