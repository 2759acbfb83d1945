"""Cases over the shared sample documents: a question of two hops, and what became of its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from arena.metrics.answer import contains, exact_match, token_f1
from arena.metrics.case import Case
from arena.types import Answer, Cell, Decision, Gold, Hit, Question, Retrieval, RetrievalRequest, RunRecord, Score
from tests.samples import DOCUMENTS, GOLD, QUESTIONS, answered, cell, shown_whole

BY_ID = {document.doc_id: document for document in DOCUMENTS}
ASKED = {question.question_id: question for question in QUESTIONS}
CLOSED_BOOK = cell("closed_book", "none")


def hits(*doc_ids: str) -> tuple[Hit, ...]:
    return tuple(Hit(doc_id, doc_id, rank, 1.0 / rank) for rank, doc_id in enumerate(doc_ids, 1))


def retrieval(*found: str, dropped: tuple[str, ...] = (), beyond: tuple[str, ...] = (), query: str = "q") -> Retrieval:
    return Retrieval(RetrievalRequest(query, "hybrid", 5), hits(*found), dropped=hits(*dropped), beyond=beyond)


def record(
    text: str | None = "Tammerhold",
    used: tuple[str, ...] = ("d1", "d2"),
    *retrievals: Retrieval,
    question_id: str = "q1",
    decisions: tuple[Decision, ...] = (),
    abstained: bool = False,
    of: Cell | None = None,
) -> RunRecord:
    """A record; without retrievals given, one brought exactly what was used."""
    plain = answered(question_id, text or "", used, of=of, abstained=abstained)
    return replace(
        plain,
        answer=Answer(text, abstained, used, used, (), tuple(map(shown_whole, used))),
        retrievals=retrievals or (retrieval(*used),),
        decisions=decisions,
    )


def case(of: RunRecord, **changes: Any) -> Case:
    """`changes` are fields of the question or of its gold."""
    question, gold = ASKED[of.question_id], GOLD[of.question_id]
    about = {name: value for name, value in changes.items() if name in Question.__dataclass_fields__}
    right = {name: value for name, value in changes.items() if name in Gold.__dataclass_fields__}
    return Case(of, replace(question, **about), replace(gold, **right), BY_ID)


def scores(of: Case) -> Mapping[str, Score]:
    """What the waterfall reads of short answers, as the metrics define it."""
    answer = of.record.answer
    if answer is None or answer.text is None or not of.gold.answerable or of.question.kind == "summary":
        return {}
    found = {"answer_em": exact_match, "answer_f1": token_f1, "answer_contains": contains}
    return {
        name: Score(name, 0.0 if answer.abstained else metric(answer.text, of.gold.answers))
        for name, metric in found.items()
    }
