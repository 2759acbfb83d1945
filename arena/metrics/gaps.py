"""When a metric has no value for a record: one rule per family, each giving a reason or None.

A failed record is missing only where a sound one would have been scored: the question's own reasons and the
cell's come first.
"""

from __future__ import annotations

from arena.metrics import reasons
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE, Gold, Question, RunRecord


def used_gap(record: RunRecord, question: Question, gold: Gold) -> str | None:
    """For metrics on the documents shown to the call that wrote the answer.

    A strategy that could retrieve and showed nothing has no gap: it scores 0.
    """
    if not gold.supporting_ids:
        return reasons.NO_GOLD
    if record.cell.retrieval_mode == NO_RETRIEVAL_MODE:
        return reasons.NO_RETRIEVAL
    return reasons.FAILED if record.answer is None else None


def ranking_gap(record: RunRecord, question: Question, gold: Gold) -> str | None:
    """For metrics on the ranking of the record's first retrieval."""
    if gold.supporting_ids and record.cell.retrieval_mode == GOLD_MODE:
        return reasons.GOLD_BY_CONSTRUCTION
    gap = used_gap(record, question, gold)
    return gap if gap or record.retrievals else reasons.NO_RETRIEVAL


def answer_gap(record: RunRecord, question: Question, gold: Gold) -> str | None:
    """For metrics that compare the answer's words with a short gold answer.

    A cell without a model writes nothing by design; a failed record of one is not missing an answer.
    """
    if not gold.answerable:
        return reasons.UNANSWERABLE
    if question.kind == "summary":
        return reasons.NOT_A_SPAN
    if record.answer is None:
        return reasons.FAILED if record.cell.llm else reasons.NO_ANSWER_BY_DESIGN
    writes = record.answer.abstained or record.answer.text is not None
    return None if writes else reasons.NO_ANSWER_BY_DESIGN
