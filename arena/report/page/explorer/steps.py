"""What a record did beside retrieving, as tables: decisions, and model calls by role."""

from __future__ import annotations

from arena.report.page.explorer.columns import Vocabulary
from arena.report.page.explorer.pool import QuestionShelf
from arena.report.page.explorer.tables import Decisions, Parts, Roles
from arena.report.question import RoleUse
from arena.report.question.wording import changed_text
from arena.types import Decision


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
