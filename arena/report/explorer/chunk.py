"""Some questions with all that their cells made of them, as tables.

A chunk is written as three members, so that each can be weighed: `numbers` (all tables but the lanes), `words` (the
texts that the tables name by number) and `lanes`.

What a record did beside retrieving, as tables: decisions, and model calls by role.

The scores of a chunk: the distinct ones, and a number of one of them for every metric of every record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.report.explorer.columns import (
    FLAGS,
    OUTCOMES,
    Cut,
    Decisions,
    Integers,
    Parts,
    Records,
    Roles,
    Scores,
    Verdicts,
    Vocabulary,
)
from arena.report.explorer.documents import DocumentShelf, QuestionShelf, RetrievalPool
from arena.report.question import CellPage, GoldDocument, RoleUse, changed_text, lanes_of, whole_of
from arena.types import Decision, Question, Score, Verdict


class StepRows:
    """Decisions with their parts, and roles, of the records of a chunk in their order."""

    def __init__(self, words: Vocabulary) -> None:
        self._words = words
        self.decisions, self.parts, self.roles = Decisions(), Parts(), Roles()

    def add_decision(self, decision: Decision, question: QuestionShelf) -> None:
        """One decision of the next record."""
        rows, number, subject = self.decisions, self._words.number, decision.subject
        document = None if subject is None else question.documents.get(subject)
        rows.node.append(number(decision.node))
        rows.choice.append(number(decision.choice))
        rows.score.append(decision.score)
        rows.threshold.append(decision.threshold)
        rows.origin.append(number(decision.origin))
        rows.tier.append(number(decision.tier))
        rows.changed.append(number(changed_text(decision)))
        rows.subject.append(None if document is not None else number(subject))
        rows.document.append(document)
        rows.n_parts.append(len(decision.parts))
        for name, value in decision.parts.items():
            self.parts.name.append(number(name))
            self.parts.value.append(value)
            self.parts.reason.append(None)

    def add_role(self, use: RoleUse) -> None:
        """The calls of one role of the next record."""
        rows, spent, account = self.roles, use.spent, use.account
        rows.role.append(self._words.number(use.role))
        rows.models.append(self._words.number(", ".join(use.models)))
        rows.calls.append(spent.calls)
        rows.retries.append(use.retries)
        rows.input_tokens.append(_whole(spent.input_tokens.value))
        rows.output_tokens.append(_whole(spent.output_tokens.value))
        rows.service_seconds.append(account.service_seconds)
        rows.waiting_seconds.append(use.waiting_seconds)
        rows.usd.append(spent.usd.value)
        rows.repairs.append(account.repairs)
        rows.failed.append(account.failed_calls)
        rows.truncated.append(use.truncated)
        rows.replayed.append(account.replayed.calls)


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)


class ScoreCodes:
    """Scores, record by record. `metrics`: those of the page, in its order."""

    def __init__(self, words: Vocabulary, metrics: Sequence[str]) -> None:
        self._words = words
        self._metrics = list(metrics)
        self.distinct = Scores()
        self._codes: list[list[int]] = []
        self._by_content: dict[tuple[float | None, str | None, float | None, float | None], int] = {}
        # The score table lives as long as the page is made, and holds equal scores once.
        self._by_id: dict[int, int] = {}

    def add(self, scores: Sequence[Score]) -> None:
        """The scores of the next record."""
        if [score.metric for score in scores] == self._metrics:
            self._codes.append([self._code(score) for score in scores])
        else:
            by_metric = {score.metric: score for score in scores}
            self._codes.append([self._code(found) if (found := by_metric.get(one)) else 0 for one in self._metrics])

    def written(self) -> list[int]:
        """Record by record: scores of one record follow from each other more than those of one metric are alike."""
        return [code for codes in self._codes for code in codes]

    def _code(self, score: Score) -> int:
        code = self._by_id.get(id(score))
        if code is None:
            code = self._by_id[id(score)] = self._code_of_content(score)
        return code

    def _code_of_content(self, score: Score) -> int:
        low, high = (score.partial.low, score.partial.high) if score.partial else (None, None)
        content = (score.value, score.reason, low, high)
        if content not in self._by_content:
            self._by_content[content] = len(self._by_content) + 1
            self.distinct.value.append(score.value)
            self.distinct.reason.append(self._words.number(score.reason))
            self.distinct.low.append(low)
            self.distinct.high.append(high)
        return self._by_content[content]


CHUNK_QUESTIONS = 64


class Chunk:
    """The questions of one chunk; records and verdicts may come in any order. `metrics`: those of the page."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._words = Vocabulary()
        self._questions: dict[int, QuestionShelf] = {}
        self._pool, self._steps = RetrievalPool(self._words), StepRows(self._words)
        self._scores = ScoreCodes(self._words, metrics)
        self._records, self._verdicts, self._verdict_parts = Records(), Verdicts(), Parts()
        self._retrieved, self._used, self._cited = list[int](), list[int](), list[int]()

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
            "retrieved": self._retrieved,
            "used": self._used,
            "cited": self._cited,
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
            "slot": [question.slot for question in ordered],
            "first_retrieval": Integers(question.first_retrieval for question in ordered).written(),
            "n_documents": [len(question.documents) for question in ordered],
            "documents": [number for question in ordered for number in question.shelved(shelf)],
            "n_gold": [len(question.gold) for question in ordered],
            "gold": Integers(label for question in ordered for label in question.labels).written(),
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
