"""RunRecords + Gold -> ScoreTable. Pure and offline: any finished run can be scored again without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from arena.accounting import Account, account_of
from arena.metrics import score_record
from arena.metrics.controllers import DecisionTally
from arena.prices import PriceTable
from arena.types import Cell, Dataset, Outcome, RunRecord, Score


@dataclass(frozen=True, slots=True)
class Usage:
    """What one question took in one cell.

    `measured`: its latency is one: it did not fail, and none of its calls was replayed. `truncated`: a reply ended at
    the token limit, not where the model would have.
    """

    outcome: Outcome
    latency_seconds: float
    measured: bool
    account: Account
    retrievals: int
    truncated: bool


@dataclass(slots=True)
class CellScores:
    """All scores of one cell: question id -> scores, in the order of the records; and what its branches came to."""

    cell: Cell
    scores: dict[str, tuple[Score, ...]] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    decisions: DecisionTally = field(default_factory=DecisionTally)


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Every metric of every question of every cell; nothing is averaged or rounded yet."""

    cells: tuple[CellScores, ...]

    def rows(self) -> Iterator[tuple[str, str, Score]]:
        """(cell key, question id, score), cell by cell."""
        for cell in self.cells:
            for question_id, scores in cell.scores.items():
                for score in scores:
                    yield cell.cell.key, question_id, score


def score_records(records: Iterable[RunRecord], dataset: Dataset, prices: PriceTable | None = None) -> ScoreTable:
    """Score a run's records. Cells and questions keep the order of the records.

    Args:
        records: at most one per cell and question; a question the dataset does not hold is a KeyError.
        dataset: the questions and their gold.
        prices: what their calls cost (None: nothing has a known price).
    """
    questions = {question.question_id: question for question in dataset.questions}
    cells: dict[str, CellScores] = {}
    for record in records:
        cell = cells.setdefault(record.cell.key, CellScores(record.cell))
        question = questions[record.question_id]
        cell.scores[record.question_id] = score_record(record, question, dataset.gold[record.question_id])
        cell.usage[record.question_id] = usage_of(record, prices)
        cell.decisions.add(record)
    return ScoreTable(tuple(cells.values()))


def usage_of(record: RunRecord, prices: PriceTable | None = None) -> Usage:
    """Tokens, money, calls and seconds of one record."""
    return Usage(
        outcome=record.outcome,
        latency_seconds=record.latency_seconds,
        measured=record.outcome != "failed" and not any(call.replayed for call in record.calls),
        account=account_of(record.calls, record.cell, prices),
        retrievals=len(record.retrievals),
        truncated=any(call.truncated for call in record.calls),
    )


def by_metric(cell: CellScores) -> Mapping[str, list[Score]]:
    """The cell's scores regrouped: metric -> one score per question."""
    grouped: dict[str, list[Score]] = {}
    for scores in cell.scores.values():
        for score in scores:
            grouped.setdefault(score.metric, []).append(score)
    return grouped
