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
    """For metrics on the ranking of the record's first retrieval.

    A strategy that could retrieve and chose not to has no gap: it scores 0, as for what it showed.
    """
    if gold.supporting_ids and record.cell.retrieval_mode == GOLD_MODE:
        return reasons.GOLD_BY_CONSTRUCTION
    return used_gap(record, question, gold)


def cut_gap(record: RunRecord, question: Question, gold: Gold, k: int) -> str | None:
    """For metrics on the first `k` of the first retrieval.

    What the cell asks for decides, so that its failed records are as undefined as its sound ones; only where the
    cell does not say (a plugin's) does the record's own first request.
    """
    gap = ranking_gap(record, question, gold)
    asked = record.cell.params.get("k")
    if not isinstance(asked, int):
        asked = record.retrievals[0].request.k if record.retrievals else k
    return reasons.CUT_BEYOND_K if asked < k and gap in (None, reasons.FAILED) else gap


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
