"""All that is known of every question of every cell; nothing is averaged or rounded yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from arena.accounting import Account
from arena.judges.tally import JudgeTally
from arena.metrics.controllers import ControllerTally, DecisionTally
from arena.metrics.failures import Finding
from arena.scoring.usage import Usage
from arena.types import Cell, Score


@dataclass(frozen=True, slots=True)
class FailedKind:
    """Failures of one type in one cell: how many questions, and the message of the first."""

    questions: int
    message: str


@dataclass(slots=True)
class CellScores:
    """All scores of one cell, by question id, in the order of the records; and what its branches came to.

    `answers`: the words of each answer (None = none). `decisions` counts them, `controllers` holds them against gold.
    `judging`: the judges' calls on the answers, which are not among those of `usage`. `dropped`: model -> the settings
    that it refused, in the order met. `failed`: type of failure -> how often, and what the first of its kind said.
    """

    cell: Cell
    scores: dict[str, tuple[Score, ...]] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    failures: dict[str, Finding] = field(default_factory=dict)
    answers: dict[str, str | None] = field(default_factory=dict)
    decisions: DecisionTally = field(default_factory=DecisionTally)
    controllers: ControllerTally = field(default_factory=ControllerTally)
    judging: Account = field(default_factory=Account)
    dropped: dict[str, dict[str, None]] = field(default_factory=dict)
    failed: dict[str, FailedKind] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Every metric of every question of every cell. `judges`: how its judges judged (None = nothing was judged)."""

    cells: tuple[CellScores, ...]
    judges: JudgeTally | None = None

    def rows(self) -> Iterator[tuple[str, str, Score]]:
        """(cell key, question id, score), cell by cell."""
        for cell in self.cells:
            key = cell.cell.key
            for question_id, scores in cell.scores.items():
                for score in scores:
                    yield key, question_id, score


def by_metric(cell: CellScores) -> Mapping[str, list[Score]]:
    """The cell's scores regrouped: metric -> one score per question."""
    grouped: dict[str, list[Score]] = {}
    for scores in cell.scores.values():
        for score in scores:
            grouped.setdefault(score.metric, []).append(score)
    return grouped
