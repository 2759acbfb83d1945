"""One cell of a run that goes on, counted and scored record by record."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.leaderboard.metrics import QuestionResamples, columns_of_scores, summarise_columns
from arena.leaderboard.schema import MetricSummary
from arena.metrics import METRICS
from arena.metrics.case import Case
from arena.plan import PlannedCell
from arena.scoring import CellScores
from arena.types import Dataset, Outcome, RunRecord, sum_known
from experiments.serving.progress import FIGURES, CellProgress


@dataclass(frozen=True, slots=True)
class _Taken:
    """What one question came to."""

    outcome: Outcome
    calls: int
    tokens: int | None


@dataclass(slots=True)
class CellWatch:
    """The newest record of each question counts."""

    planned: PlannedCell
    taken: dict[str, _Taken] = field(default_factory=dict)
    scores: CellScores = field(init=False)

    def __post_init__(self) -> None:
        self.scores = CellScores(self.planned.cell)

    def add(self, record: RunRecord) -> None:
        """Count a record of this cell."""
        tokens = sum_known(count for call in record.calls for count in (call.input_tokens, call.output_tokens))
        self.taken[record.question_id] = _Taken(record.outcome, len(record.calls), tokens)

    def score(self, record: RunRecord, dataset: Dataset, questions: dict[str, int]) -> None:
        """Score it by FIGURES. `questions`: question id -> its place in `dataset`."""
        question_id = record.question_id
        case = Case(record, dataset.questions[questions[question_id]], dataset.gold[question_id], {})
        self.scores.scores[question_id] = tuple(METRICS[name].score(case) for name in FIGURES)

    def figures(self, resamples: QuestionResamples) -> dict[str, MetricSummary]:
        """Means with their intervals over what is scored so far, made as those on the leaderboard are."""
        if not self.scores.scores:
            return {}
        columns = columns_of_scores(self.scores)
        return summarise_columns(columns, resamples.of(columns.ids))

    def progress(self, figures: dict[str, MetricSummary]) -> CellProgress:
        """Where the cell stands."""
        cell, taken = self.planned.cell, self.taken.values()
        return CellProgress(
            cell=cell.key,
            strategy=cell.strategy,
            retrieval_mode=cell.retrieval_mode,
            llm=cell.llm,
            done=len(self.taken),
            planned=len(self.planned.question_ids),
            failed=sum(one.outcome == "failed" for one in taken),
            abstained=sum(one.outcome == "abstained" for one in taken),
            calls=sum(one.calls for one in taken),
            tokens=sum_known(one.tokens for one in taken),
            figures=figures,
        )
