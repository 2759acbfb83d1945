"""When a metric has no value for a record, and what answers would score by chance.

One rule per family of metrics gives a reason or None. A failed record is missing only where a sound one would have been
scored: the question's own reasons and the cell's come first. The chance level of a metric is what each answer scores
against the gold of every question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from arena.metrics import case as reasons
from arena.metrics.answer import any_script_normalised, contains, exact_match, musique_normalised, statements, token_f1
from arena.metrics.case import Case
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE, grouped

Gap = Callable[[Case], str | None]


def evidence_gap(case: Case) -> str | None:
    """For metrics on the documents that were retrieved, or shown to the call that wrote the answer.

    A strategy that could retrieve and did not has no gap: it scores 0.
    """
    return retriever_gap(case) if case.gold.supporting_ids else reasons.NO_GOLD


def retriever_gap(case: Case) -> str | None:
    """For all that asks for a retriever and a completed record."""
    if case.record.cell.retrieval_mode == NO_RETRIEVAL_MODE:
        return reasons.NO_RETRIEVAL
    if case.record.answer is None:
        return reasons.FAILED
    return None if case.record.tells_evidence else reasons.NOT_REPORTED


def sentence_gap(case: Case) -> str | None:
    """For metrics on the sentences of the evidence that stood in the prompt of the answer."""
    if not case.gold.supporting_ids:
        return reasons.NO_GOLD
    if not case.gold.sentences:
        return reasons.NO_SENTENCES
    gap = retriever_gap(case)
    return reasons.TEXT_UNKNOWN if gap is None and case.shown is None else gap


def ranking_gap(case: Case) -> str | None:
    """For metrics on the ranking of the record's first retrieval.

    A strategy that could retrieve and chose not to has no gap: it scores 0, as for what it showed.
    """
    if case.gold.supporting_ids and case.record.cell.retrieval_mode == GOLD_MODE:
        return reasons.GOLD_BY_CONSTRUCTION
    return evidence_gap(case)


def cut_gap(case: Case, k: int) -> str | None:
    """For metrics on the first `k` of the first retrieval.

    Only a cell that asks for fewer than `k` passages has no such score, and then none of its records has, failed ones
    included. A cell that does not say what it asks for (imported, a plugin's) is taken at its whole answer: a list that
    ends before `k` is a shorter list, as in trec_eval, whatever its length.
    """
    gap = ranking_gap(case)
    asked = case.record.cell.params.get("k")
    short = isinstance(asked, int) and asked < k
    return reasons.CUT_BEYOND_K if short and gap in (None, reasons.FAILED) else gap


def hop_gap(case: Case, number: int = 1) -> str | None:
    """For metrics on hop `number` (from 1) of the decomposition; with the first, for those on the whole chain."""
    if not case.gold.supporting_ids:
        return reasons.NO_GOLD
    if not case.gold.hop_order:
        return reasons.NO_HOP_ORDER
    return reasons.FEWER_HOPS if number > len(case.gold.hop_order) else retriever_gap(case)


def claim_gap(case: Case) -> str | None:
    """For metrics on the claims of the reference that have documents to support them."""
    return retriever_gap(case) if any(claim.supporting_ids for claim in case.gold.claims) else reasons.NO_CLAIMS


def writing_gap(case: Case) -> str | None:
    """For all that asks for an answer or an abstention.

    A cell without a model writes nothing by design; a failed record of one is not missing an answer.
    """
    answer = case.record.answer
    if answer is None:
        return reasons.FAILED if case.record.cell.llm else reasons.NO_ANSWER_BY_DESIGN
    return None if answer.abstained or answer.text is not None else reasons.NO_ANSWER_BY_DESIGN


def answer_gap(case: Case) -> str | None:
    """For metrics that compare the answer's words with a short gold answer."""
    if not case.gold.answerable:
        return reasons.UNANSWERABLE
    return reasons.NOT_A_SPAN if case.question.kind == "summary" else writing_gap(case)


def summary_gap(case: Case) -> str | None:
    """For metrics that compare the answer with a reference in prose."""
    if not case.gold.answerable:
        return reasons.UNANSWERABLE
    return writing_gap(case) if case.question.kind == "summary" else reasons.NOT_A_SUMMARY


def answerable_gap(case: Case) -> str | None:
    """For metrics on the questions that have an answer."""
    return writing_gap(case) if case.gold.answerable else reasons.UNANSWERABLE


def unanswerable_gap(case: Case) -> str | None:
    """For metrics on the questions that have none."""
    return reasons.ANSWERABLE if case.gold.answerable else writing_gap(case)


def claiming_gap(case: Case) -> str | None:
    """For metrics on what an answer claims, in a cell that has passages to claim it from."""
    gap, answer = writing_gap(case), case.record.answer
    if gap in (None, reasons.FAILED):
        gap = retriever_gap(case)
    return reasons.ABSTAINED if gap is None and answer is not None and answer.abstained else gap


def citing_gap(case: Case) -> str | None:
    """For metrics on the documents that an answer cites, against the gold."""
    return claiming_gap(case) if case.gold.supporting_ids else reasons.NO_GOLD


def statement_gap(case: Case) -> str | None:
    """For metrics on the statements of an answer."""
    gap, answer = claiming_gap(case), case.record.answer
    if gap is None and answer is not None and not statements(answer.text or ""):
        return reasons.NO_CONTENT
    return gap


def lookup_gap(case: Case) -> str | None:
    """For metrics that look an answer's statements up in the texts that were shown."""
    gap = statement_gap(case)
    return reasons.TEXT_UNKNOWN if gap is None and case.shown is None else gap


def citation_gap(case: Case, gap: Gap) -> str | None:
    """For metrics on the citations themselves: `gap`, and an answer without any has none."""
    reason, answer = gap(case), case.record.answer
    return reasons.NO_CITATIONS if reason is None and answer is not None and not answer.cited_ids else reason


Wording = Callable[[str, Sequence[str]], float | None]
"""Of the answer's text, then of the texts it is held against."""

CROSSED: Mapping[str, Wording] = {"answer_em": exact_match, "answer_f1": token_f1, "answer_contains": contains}
"""Metrics that look at words alone. Each is 0 for two texts without a token in common, unless neither has any."""


def cross_scores(
    predictions: Sequence[str | None], answers: Sequence[Sequence[str]], metric: Wording
) -> list[dict[int, float]]:
    """Per prediction: place of a question -> its score against that question's answers, where that is not 0.

    Args:
        predictions: one a question; None = none was given, which scores 0 everywhere.
        answers: of the same questions, in the same order.
        metric: one of CROSSED.
    """
    holders = grouped((token, place) for place, texts in enumerate(answers) for one in texts for token in _tokens(one))

    @cache
    def scores_of(prediction: str) -> dict[int, float]:
        places = sorted({place for token in _tokens(prediction) for place in holders.get(token, ())})
        scores = ((place, metric(prediction, answers[place])) for place in places)
        return {place: score for place, score in scores if score}

    return [{} if prediction is None else scores_of(prediction) for prediction in predictions]


def _tokens(text: str) -> list[str]:
    """The empty token stands for a text without any."""
    if text.isascii():
        return musique_normalised(text).split() or [""]
    # Which of the two a comparison takes depends on the other text.
    return [*musique_normalised(text).split(), *any_script_normalised(text).split()] or [""]
