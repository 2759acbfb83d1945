"""Some questions with all that their cells made of them, as tables.

A chunk is written as three members, so that each can be weighed: `numbers` (all tables but the lanes), `words` (the
texts that the tables name by number) and `lanes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.report.page.explorer.columns import Cut, Integers, Steps, Vocabulary, planes
from arena.report.page.explorer.pool import QuestionShelf, RetrievalPool
from arena.report.page.explorer.score_codes import ScoreCodes
from arena.report.page.explorer.shelf import DocumentShelf
from arena.report.page.explorer.steps import StepRows
from arena.report.page.explorer.tables import FLAGS, OUTCOMES, Parts, Records, Verdicts
from arena.report.question import CellPage, GoldDocument
from arena.report.question.evidence import lanes_of
from arena.report.question.roles import whole_of
from arena.types import Question, Verdict

CHUNK_QUESTIONS = 64


class Chunk:
    """The questions of one chunk; records and verdicts may come in any order. `metrics`: those of the page."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._words = Vocabulary()
        self._questions: dict[int, QuestionShelf] = {}
        self._pool, self._steps = RetrievalPool(self._words), StepRows(self._words)
        self._scores = ScoreCodes(self._words, metrics)
        self._records, self._verdicts, self._verdict_parts = Records(), Verdicts(), Parts()
        self._retrieved, self._used, self._cited = Integers(), Steps(), Steps()

    def __contains__(self, slot: int) -> bool:
        return slot in self._questions

    def open(self, slot: int, question: Question, gold: Sequence[GoldDocument]) -> None:
        """Make the place `slot` of the chunk that of a question."""
        labels = tuple(self._words.number(one.label) for one in gold)
        self._questions[slot] = QuestionShelf(slot, question.text, gold, labels)

    def add(self, slot: int, cell: int, page: CellPage) -> None:
        """What the cell with number `cell` made of the question at `slot`, which is open."""
        question, answer = self._questions[slot], page.record.answer
        self._retrieved.extend(self._pool.add(one, question) for one in page.record.retrievals)
        if answer is not None:
            self._used.extend(question.numbers(answer.used_ids))
            self._cited.extend(question.numbers(answer.cited_ids))
        for decision in page.record.decisions:
            self._steps.add_decision(decision, question)
        for use in page.roles:
            self._steps.add_role(use)
        self._scores.add(page.scores)
        self._add_outcome(slot, cell, page)
        self._add_figures(page)

    def add_verdict(self, slot: int, cell: int, verdict: Verdict) -> None:
        """A judge's word on the record of a cell."""
        rows, number = self._verdicts, self._words.number
        rows.question.append(slot)
        rows.cell.append(cell)
        rows.metric.append(number(verdict.metric))
        rows.judge.append(number(verdict.judge))
        rows.repeat.append(verdict.repeat)
        rows.value.append(verdict.score.value)
        rows.reason.append(number(verdict.score.reason))
        rows.n_parts.append(len(verdict.parts))
        for part in verdict.parts:
            self._verdict_parts.name.append(number(part.name))
            self._verdict_parts.value.append(part.value)
            self._verdict_parts.reason.append(number(part.reason))

    def words(self, chars: int | None) -> list[Cut]:
        """The member `words`, each text cut to `chars` characters (None: whole)."""
        return self._words.written(chars)

    def lanes(self) -> dict[str, Any]:
        """The member `lanes`."""
        return {name: self._pool.lanes[name].written() for name in lanes_of(self._pool.lanes)}

    def numbers(self, shelf: DocumentShelf) -> dict[str, Any]:
        """The member `numbers`; its documents are numbered in `shelf`."""
        return {
            "questions": self._written_questions(shelf),
            "retrievals": self._pool.retrievals.written(),
            "hits": self._pool.hits.written(),
            "beyond": self._pool.beyond.written(),
            "records": self._records.written(),
            "retrieved": self._retrieved.written(),
            "used": self._used.written(),
            "cited": self._cited.written(),
            "decisions": self._steps.decisions.written(),
            "decision_parts": self._steps.parts.written(),
            "roles": self._steps.roles.written(),
            "verdicts": self._verdicts.written(),
            "verdict_parts": self._verdict_parts.written(),
            "scores": self._scores.distinct.written(),
            "codes": self._scores.written(),
        }

    def _written_questions(self, shelf: DocumentShelf) -> dict[str, Any]:
        ordered = [self._questions[slot] for slot in sorted(self._questions)]
        return {
            "slot": planes(question.slot for question in ordered),
            "first_retrieval": planes(question.first_retrieval for question in ordered),
            "n_documents": planes(len(question.documents) for question in ordered),
            "documents": planes(number for question in ordered for number in question.shelved(shelf)),
            "n_gold": planes(len(question.gold) for question in ordered),
            "gold": planes(label for question in ordered for label in question.labels),
        }

    def _add_outcome(self, slot: int, cell: int, page: CellPage) -> None:
        rows, number, finding, failure = self._records, self._words.number, page.finding, page.record.failure
        rows.question.append(slot)
        rows.cell.append(cell)
        rows.outcome.append(OUTCOMES.index(page.record.outcome))
        rows.finding.append(number(finding.failure))
        rows.hop.append(finding.hop)
        rows.missing.append(None if finding.doc_id is None else self._questions[slot].number(finding.doc_id))
        rows.stage.append(number(failure.stage if failure else None))
        rows.type.append(number(failure.type if failure else None))
        rows.message.append(number(failure.message if failure else None))

    def _add_figures(self, page: CellPage) -> None:
        rows, usage, record, answer = self._records, page.usage, page.record, page.record.answer
        rows.flags.append(sum(bool(getattr(usage, name)) << place for place, name in enumerate(FLAGS)))
        rows.latency_seconds.append(usage.latency_seconds)
        rows.wall_seconds.append(record.wall_seconds)
        rows.retrieval_seconds.append(page.retrieval_seconds)
        rows.usd.append(whole_of(usage.account).usd.value)
        rows.n_retrievals.append(len(record.retrievals))
        rows.n_used.append(len(answer.used_ids) if answer else 0)
        rows.n_cited.append(len(answer.cited_ids) if answer else 0)
        rows.n_decisions.append(len(record.decisions))
        rows.n_roles.append(len(page.roles))
