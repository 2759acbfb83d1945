"""The answers of a run that people can judge, each under an id that does not tell whose it is."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from arena.judges.subject import subject_of
from arena.metrics.case import Case
from arena.plan import Key
from arena.sampling import sample
from arena.store import key_of
from experiments.reviewing.cell_text import sheet_text
from experiments.run.scoring import PastRun, documents_of

NO_GOLD = "(no answer: the question cannot be answered from the corpus)"
NOT_KEPT = "(the text of these passages was not kept)"


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One answer as a reviewer sees it. Texts are as `sheet_text` leaves them, not yet guarded.

    `passages`: what the answer was written from, numbered in the order shown; `citations`: which of them it cites.
    """

    row_id: str
    cell: str
    question_id: str
    question: str
    gold_answers: str
    passages: str
    citations: str
    answer: str


def run_tag(run: PastRun) -> str:
    """What the ids of all rows of a run begin with."""
    return "r" + hashlib.sha256(f"{run.store.run_id}\n{run.manifest['started']}".encode()).hexdigest()[:6]


def review_rows(run: PastRun, wanted: Collection[Key] | None = None) -> Iterator[ReviewRow]:
    """The answers of a run in the order of its journal, one at a time (`wanted`: only these).

    Abstentions are among them; failures and cells without a model have no answer.
    """
    planned = {planned.cell.key for planned in run.plan.cells if planned.cell.llm is not None}
    questions = {question.question_id: question for question in run.dataset.questions}
    documents, tag = documents_of(run), run_tag(run)
    for record in run.store.records():
        key = key_of(record)
        if record.answer is None or record.answer.text is None or key[0] not in planned:
            continue
        if wanted is None or key in wanted:
            case = Case(record, questions[record.question_id], run.dataset.gold[record.question_id], documents)
            yield _row(case, tag)


def sampled_keys(run: PastRun, limit: int | None, seed: int) -> set[Key]:
    """At most `limit` answers of each cell (None: all), drawn as a run draws its questions."""
    answered: dict[str, set[str]] = {}
    for record in run.store.records():
        if record.answer is not None:
            answered.setdefault(record.cell.key, set()).add(record.question_id)
    chosen = set()
    for cell, ids in answered.items():
        questions = [one for one in run.dataset.questions if one.question_id in ids]
        drawn = sample(questions, limit, balance="proportional", seed=seed)
        chosen |= {(cell, question.question_id) for question in drawn}
    return chosen


def _row(case: Case, tag: str) -> ReviewRow:
    record, gold = case.record, case.gold
    answer = record.answer
    if answer is None:
        raise ValueError(f"{record.question_id} of {record.cell.key} has no answer")
    shown = list((case.shown or {}).items())
    numbers = {doc_id: number for number, (doc_id, _) in enumerate(shown, 1)}
    return ReviewRow(
        row_id=f"{tag}-{_hidden(case)}",
        cell=record.cell.key,
        question_id=record.question_id,
        question=sheet_text(case.question.text),
        gold_answers=sheet_text(" | ".join(gold.answers) if gold.answers else NO_GOLD),
        passages=sheet_text(
            NOT_KEPT
            if case.shown is None
            else "\n\n".join(f"[{place}] {text}" for place, (_, text) in enumerate(shown, 1))
        ),
        citations=" ".join(f"[{numbers.get(doc_id, 'not shown')}]" for doc_id in answer.cited_ids),
        answer=sheet_text(answer.text or ""),
    )


def _hidden(case: Case) -> str:
    """12 hex digits of what the row is, keyed by what only the run folder tells: how long the question took."""
    record = case.record
    place = json.dumps([record.cell.key, record.question_id, subject_of(case).sha])
    return hmac.new(repr(record.wall_seconds).encode(), place.encode(), "sha256").hexdigest()[:12]
