"""One question: what is right, and what each cell made of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from arena.accounting import accounts_by_role
from arena.judges.subject import subject_of
from arena.metrics.case import Case
from arena.metrics.failures import CLASSES, FailureClass, Finding
from arena.prices import PriceTable
from arena.report.question.evidence import GoldDocument, Mark, mark_of
from arena.report.question.roles import RoleUse, uses_by_role
from arena.scoring import CellScores, Usage
from arena.types import Gold, Question, RunRecord, Score, Verdict


@dataclass(frozen=True, slots=True)
class CellPage:
    """What one cell made of one question: its record, and all that was derived from it."""

    record: RunRecord
    scores: tuple[Score, ...]
    finding: Finding
    usage: Usage
    roles: tuple[RoleUse, ...]
    verdicts: tuple[Verdict, ...] = ()

    @classmethod
    def of(
        cls, record: RunRecord, cell: CellScores, prices: PriceTable | None, verdicts: Iterable[Verdict] = ()
    ) -> CellPage:
        """From a record and the scores of its cell. Raises KeyError if the record was not scored."""
        question_id = record.question_id
        usage = cell.usage[question_id]
        if record.calls and not usage.roles:  # a table that was read again has the sums alone
            roles_of_calls = accounts_by_role(record.calls, record.cell, prices)
            replayed = any(call.replayed for call in record.calls)
            usage = replace(usage, roles=roles_of_calls, replayed=replayed)
        roles = uses_by_role(record, usage.roles)
        return cls(record, cell.scores[question_id], cell.failures[question_id], usage, roles, tuple(verdicts))

    @property
    def failure_class(self) -> FailureClass:
        """What the question came to, with the rule that says so."""
        return CLASSES[self.finding.failure]

    @property
    def retrieval_seconds(self) -> float:
        """What its retrievals took, waiting for others apart; each query embedded afresh."""
        return sum(one.seconds.worked + one.seconds.known_embed for one in self.record.retrievals)


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """A question, its gold, and its cells in the order of the leaderboard. A cell without a record is left out."""

    question: Question
    gold: Gold
    gold_documents: tuple[GoldDocument, ...]
    cells: tuple[CellPage, ...]

    def mark(self, doc_id: str, cell: CellPage) -> Mark:
        """What a document is to the record of a cell."""
        return mark_of(doc_id, self.gold_documents, cell.record.answer)


def current_verdicts(case: Case, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Those that were made of what is in `case`: its record may have been asked again since."""
    sha = subject_of(case).sha
    return tuple(one for one in verdicts if one.subject_sha == sha)
