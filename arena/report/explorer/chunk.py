"""Some questions with all that their cells made of them, as tables.

A chunk is written as three members, so that each can be weighed: `numbers` (all tables but the lanes), `words` (the
texts that the tables name by number) and `lanes`.

The scores of a chunk: the distinct ones, and a number of one of them for every metric of every record.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.report.explorer.columns import (
    DECISIONS,
    FLAGS,
    OUTCOMES,
    PARTS,
    RECORDS,
    ROLES,
    SCORES,
    VERDICTS,
    Cut,
    Table,
    Vocabulary,
    integers,
)
from arena.report.explorer.documents import DocumentShelf, QuestionShelf, RetrievalPool
from arena.report.question import CellPage, GoldDocument, RoleUse, changed_text, lanes_of, whole_of
from arena.types import Decision, Question, Score, Verdict


class ScoreCodes:
    """Scores, record by record. `metrics`: those of the page, in its order."""

    def __init__(self, words: Vocabulary, metrics: Sequence[str]) -> None:
        self._words = words
        self._metrics = list(metrics)
        self.distinct = Table(SCORES)
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
            self.distinct.add(value=score.value, reason=self._words.number(score.reason), low=low, high=high)
        return self._by_content[content]


CHUNK_QUESTIONS = 64


class Chunk:
    """The questions of one chunk; records and verdicts may come in any order. `metrics`: those of the page."""

    def __init__(self, metrics: Sequence[str]) -> None:
        self._words = Vocabulary()
        self._questions: dict[int, QuestionShelf] = {}
        self._pool, self._scores = RetrievalPool(self._words), ScoreCodes(self._words, metrics)
        self._records, self._decisions, self._decision_parts = Table(RECORDS), Table(DECISIONS), Table(PARTS)
        self._roles, self._verdicts, self._verdict_parts = Table(ROLES), Table(VERDICTS), Table(PARTS)
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
            self._add_decision(decision, question)
        for use in page.roles:
            self._add_role(use)
        self._scores.add(page.scores)
        self._add_record(slot, cell, page)

    def add_verdict(self, slot: int, cell: int, verdict: Verdict) -> None:
        """A judge's word on the record of a cell."""
        word = self._words.number
        self._verdicts.add(
            question=slot,
            cell=cell,
            metric=word(verdict.metric),
            judge=word(verdict.judge),
            repeat=verdict.repeat,
            value=verdict.score.value,
            reason=word(verdict.score.reason),
            n_parts=len(verdict.parts),
        )
        for part in verdict.parts:
            self._verdict_parts.add(name=word(part.name), value=part.value, reason=word(part.reason))

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
            "decisions": self._decisions.written(),
            "decision_parts": self._decision_parts.written(),
            "roles": self._roles.written(),
            "verdicts": self._verdicts.written(),
            "verdict_parts": self._verdict_parts.written(),
            "scores": self._scores.distinct.written(),
            "codes": self._scores.written(),
        }

    def _written_questions(self, shelf: DocumentShelf) -> dict[str, Any]:
        ordered = [self._questions[slot] for slot in sorted(self._questions)]
        return {
            "slot": [question.slot for question in ordered],
            "first_retrieval": integers(question.first_retrieval for question in ordered),
            "n_documents": [len(question.documents) for question in ordered],
            "documents": [number for question in ordered for number in question.shelved(shelf)],
            "n_gold": [len(question.gold) for question in ordered],
            "gold": integers(label for question in ordered for label in question.labels),
        }

    def _add_decision(self, decision: Decision, question: QuestionShelf) -> None:
        word, subject = self._words.number, decision.subject
        document = None if subject is None else question.documents.get(subject)
        self._decisions.add(
            node=word(decision.node),
            choice=word(decision.choice),
            score=decision.score,
            threshold=decision.threshold,
            origin=word(decision.origin),
            tier=word(decision.tier),
            changed=word(changed_text(decision)),
            subject=word(subject) if document is None else None,
            document=document,
            n_parts=len(decision.parts),
        )
        for name, value in decision.parts.items():
            self._decision_parts.add(name=word(name), value=value, reason=None)

    def _add_role(self, use: RoleUse) -> None:
        spent, account = use.spent, use.account
        self._roles.add(
            role=self._words.number(use.role),
            models=self._words.number(", ".join(use.models)),
            calls=use.calls,
            retries=use.retries,
            input_tokens=_whole(spent.input_tokens.value),
            output_tokens=_whole(spent.output_tokens.value),
            service_seconds=account.service_seconds,
            waiting_seconds=use.waiting_seconds,
            usd=spent.usd.value,
            repairs=account.repairs,
            failed=account.failed_calls,
            truncated=use.truncated,
            replayed=account.replayed.calls,
        )

    def _add_record(self, slot: int, cell: int, page: CellPage) -> None:
        word, record, usage, finding = self._words.number, page.record, page.usage, page.finding
        answer, failure = record.answer, record.failure
        self._records.add(
            question=slot,
            cell=cell,
            outcome=OUTCOMES.index(record.outcome),
            finding=word(finding.failure),
            hop=finding.hop,
            missing=None if finding.doc_id is None else self._questions[slot].number(finding.doc_id),
            stage=word(failure.stage if failure else None),
            type=word(failure.type if failure else None),
            message=word(failure.message if failure else None),
            flags=sum(bool(getattr(usage, name)) << place for place, name in enumerate(FLAGS)),
            latency_seconds=usage.latency_seconds,
            wall_seconds=record.wall_seconds,
            retrieval_seconds=page.retrieval_seconds,
            usd=whole_of(usage.account).usd.value,
            n_retrievals=len(record.retrievals),
            n_used=len(answer.used_ids) if answer else 0,
            n_cited=len(answer.cited_ids) if answer else 0,
            n_decisions=len(record.decisions),
            n_roles=len(page.roles),
        )


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)
