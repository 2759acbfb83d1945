"""Who is asked what: cells with all they need, and their questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from arena.llm.limits import UNBOUNDED, Allowance
from arena.plan import Key
from arena.protocols import ChatModel, Evaluator, EvidenceSource, RetrievalSettings, Router, Strategy
from arena.types import Cell, Question


@dataclass(frozen=True, slots=True)
class Contestant:
    """A cell with all it needs, and the questions it is asked.

    `external` is the other source of knowledge, `evaluator` the trained judge of passages and `router` that of
    questions, of strategies that use one; `allowance` bounds what each question may use. `abstentions`: how an answer
    begins that declines to answer, beside what a strategy knows itself.
    """

    cell: Cell
    strategy: Strategy
    evidence: EvidenceSource
    settings: RetrievalSettings
    model: ChatModel | None
    questions: tuple[Question, ...]
    external: EvidenceSource | None = None
    evaluator: Evaluator | None = None
    router: Router | None = None
    allowance: Allowance = UNBOUNDED
    abstentions: tuple[str, ...] = ()


class Entrant(Protocol):
    """A cell and the questions it is asked."""

    @property
    def cell(self) -> Cell: ...

    @property
    def questions(self) -> tuple[Question, ...]: ...


E = TypeVar("E", bound=Entrant)


def plan(entrants: Sequence[E]) -> list[tuple[E, Question]]:
    """The work in input order: question by question through all cells.

    A stopped run has then come equally far in every cell.
    """
    by_question: dict[str, list[tuple[E, Question]]] = {}
    for entrant in entrants:
        for question in entrant.questions:
            by_question.setdefault(question.question_id, []).append((entrant, question))
    return [item for items in by_question.values() for item in items]


def plan_keys(entrants: Sequence[Entrant]) -> list[Key]:
    """The keys of all records of a complete run, in input order."""
    keys = {id(entrant): entrant.cell.key for entrant in entrants}
    return [(keys[id(entrant)], question.question_id) for entrant, question in plan(entrants)]
