"""The record of a retrieval of fewer hits, from that of one of more."""

from __future__ import annotations

from dataclasses import replace

from arena.types import Answer, Cell, Retrieval, RunRecord, ShownDocument


def cut_record(record: RunRecord, cell: Cell, k: int) -> RunRecord | None:
    """What `cell`, which is `record.cell` with `k` hits, would have recorded of the same question.

    None where the record is no single retrieval that did not fail. Seconds stay as they were, and it is not `timed`:
    the engine did the same work, but nobody timed this cell.
    """
    if record.answer is None or len(record.retrievals) != 1 or record.calls or record.decisions:
        return None
    retrieval = cut_retrieval(record.retrievals[0], k)
    ids = tuple(dict.fromkeys(hit.doc_id for hit in retrieval.hits))
    answer = replace(record.answer, retrieved_ids=ids, used_ids=ids, shown=_cut_shown(record.answer, retrieval))
    return replace(record, cell=cell, answer=answer, retrievals=(retrieval,), timed=False)


def _cut_shown(answer: Answer, retrieval: Retrieval) -> tuple[ShownDocument, ...] | None:
    """What the hits that are left show of each document: their pieces of it, or all of it."""
    if answer.shown is None:
        return None
    known = {one.doc_id: one for one in answer.shown}
    spans: dict[str, list[tuple[int, int]]] = {}
    for hit in retrieval.hits:
        spans.setdefault(hit.doc_id, []).extend(() if hit.span is None else (hit.span,))
    return tuple(replace(known[one], spans=tuple(kept)) if kept else known[one] for one, kept in spans.items())


def cut_retrieval(retrieval: Retrieval, k: int) -> Retrieval:
    """The first `k` of its hits; those after them come first in `beyond`. What a threshold dropped stays dropped."""
    left = tuple(hit.passage_id for hit in retrieval.hits[k:])
    return replace(
        retrieval,
        request=replace(retrieval.request, k=k),
        hits=retrieval.hits[:k],
        beyond=(*left, *retrieval.beyond),
    )
