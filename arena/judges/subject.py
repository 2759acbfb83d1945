"""What a judge is shown of a record, and when no judge needs to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from arena.identity import canonical_json, short_hash
from arena.metrics.answer import worth_of_abstaining
from arena.metrics.case import (
    ABSTAINED,
    FAILED,
    NO_ANSWER_BY_DESIGN,
    NO_CONTENT,
    NO_RETRIEVAL,
    TEXT_UNKNOWN,
    UNANSWERABLE,
    Case,
)
from arena.types import NO_RETRIEVAL_MODE, JudgeMetric, Score, well_formed


@dataclass(frozen=True, slots=True)
class Needs:
    """What a metric compares: the answer, the reference, the texts that were shown; and whether by an embedder."""

    answer: bool = False
    reference: bool = False
    texts: bool = False
    embedder: bool = False


NEEDS: Mapping[JudgeMetric, Needs] = {
    "answer_accuracy": Needs(answer=True, reference=True),
    "faithfulness": Needs(answer=True, texts=True),
    "context_precision": Needs(reference=True, texts=True),
    "context_recall": Needs(reference=True, texts=True),
    "answer_relevancy": Needs(answer=True, embedder=True),
    "answer_correctness": Needs(answer=True, reference=True, embedder=True),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """The question, the answer, the main gold answer, and document id -> text of what was shown, in that order.

    A text is empty where there is none. `texts` of a record that does not say what was shown: what it is assumed to be,
    which tells apart what was judged, and which no judge is asked about (see `settled`).
    """

    question: str
    answer: str
    reference: str
    texts: Mapping[str, str]

    @property
    def sha(self) -> str:
        """16 hex digits of the SHA-256 of all of it."""
        everything = [self.question, self.answer, self.reference, list(self.texts.items())]
        return short_hash(canonical_json(everything, ascii_only=True, in_order=True))


def subject_of(case: Case) -> Subject:
    """What is judged in `case`, as text that JSON can carry."""
    answer = case.record.answer
    return Subject(
        question=well_formed(case.question.text),
        answer=well_formed((answer.text if answer else None) or ""),
        reference=well_formed(case.gold.answers[0] if case.gold.answers else ""),
        texts={doc_id: well_formed(text) for doc_id, text in (case.assumed_shown or {}).items()},
    )


def settled(case: Case, metric: JudgeMetric) -> Score | None:
    """The score that follows without a judge; None = one must be asked.

    Undefined: cells without a model, questions without a right answer (for what compares with it), cells without a
    retriever (for what looks at the texts); an abstention claims nothing that could be faithful, and says nothing of a
    question without an answer. 0: an abstention is no answer to a question that has one (`worth_of_abstaining`), an
    answer without any text before it is faithful to none, a question to which nothing was shown was shown nothing
    useful, and an empty answer says nothing.
    """
    needs = NEEDS[metric]
    reason = _reason(case, needs)
    if reason is not None:
        return Score(metric, None, reason)
    answer = case.record.answer
    if needs.answer and answer and answer.abstained:
        return Score(metric, worth_of_abstaining(case))
    if needs.answer and not (answer and answer.text and answer.text.strip()):
        return Score(metric, None, NO_CONTENT) if metric == "faithfulness" else Score(metric, 0.0)
    if needs.texts and not case.shown:
        return Score(metric, 0.0)
    return None


def _reason(case: Case, needs: Needs) -> str | None:
    """Why there is no score; None = there may be one."""
    cell, answer = case.record.cell, case.record.answer
    if cell.llm is None:
        return NO_ANSWER_BY_DESIGN
    if needs.reference and not (case.gold.answerable and case.gold.answers):
        return UNANSWERABLE
    if needs.texts and cell.retrieval_mode == NO_RETRIEVAL_MODE:
        return NO_RETRIEVAL
    if answer is None:
        return FAILED
    if needs.answer and answer.abstained:
        return ABSTAINED if needs.texts or worth_of_abstaining(case) is None else None
    if answer.text is None and not answer.abstained:
        return NO_ANSWER_BY_DESIGN
    return TEXT_UNKNOWN if needs.texts and case.shown is None else None
