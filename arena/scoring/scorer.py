"""Records and gold into scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from arena.accounting import account_of
from arena.judges.tally import JudgeTally
from arena.metrics import Case, score_record
from arena.metrics.failures import find_failure
from arena.plan import Key
from arena.prices import PriceTable
from arena.scoring.judged import VerdictShelf, judge_case, shelve
from arena.scoring.table import CellScores, FailedKind, ScoreTable
from arena.scoring.usage import usage_of
from arena.types import (
    NO_RETRIEVAL_MODE,
    Cell,
    Dataset,
    Document,
    Gold,
    JudgeMetric,
    Question,
    RunRecord,
    Score,
    Verdict,
)


def score_records(
    records: Iterable[RunRecord],
    dataset: Dataset,
    prices: PriceTable | None = None,
    *,
    documents: Mapping[str, Document] | None = None,
    verdicts: Iterable[Verdict] = (),
    labels: Mapping[Key, bool] | None = None,
    judge_metrics: Sequence[JudgeMetric] = (),
    judges: Mapping[JudgeMetric, str] | None = None,
    judge_base_url: str | None = None,
) -> ScoreTable:
    """Score a run's records. Cells and questions keep the order of the records.

    Records are read one at a time; what is kept of each is its scores and its usage.

    Args:
        records: at most one per cell and question; a question the dataset does not hold is a KeyError.
        dataset: the questions and their gold.
        prices: what calls cost (None: nothing has a known price).
        documents: id -> document, of every source whose texts are known (None: the dataset's own).
        verdicts: of judges; one on a record that has changed since counts for nothing but its bill.
        labels: of people: (cell key, question id) -> whether the answer is right.
        judge_metrics: by which every record was to be judged; empty = nothing was.
        judges: metric -> the `judge_sha` whose verdicts count, where several judged (None: see `judged.shelve`).
        judge_base_url: where the judge was asked, which decides its price (None = at its provider's own address).
    """
    scorer = _Scorer(
        documents=documents if documents is not None else {one.doc_id: one for one in dataset.documents},
        questions={question.question_id: question for question in dataset.questions},
        gold=dataset.gold,
        prices=prices,
        metrics=tuple(judge_metrics),
        shelf=shelve(verdicts, judges or {}),
        labels=labels or {},
        judge_base_url=judge_base_url,
        tally=JudgeTally(prices, judge_base_url),
    )
    for record in records:
        scorer.add(record)
    return ScoreTable(tuple(scorer.cells.values()), scorer.tally if judge_metrics else None)


@dataclass(slots=True)
class _Scorer:
    documents: Mapping[str, Document]
    questions: Mapping[str, Question]
    gold: Mapping[str, Gold]
    prices: PriceTable | None
    metrics: tuple[JudgeMetric, ...]
    shelf: VerdictShelf
    labels: Mapping[Key, bool]
    judge_base_url: str | None
    tally: JudgeTally
    cells: dict[str, CellScores] = field(default_factory=dict)
    shared: dict[Score, Score] = field(default_factory=dict)

    def add(self, record: RunRecord) -> None:
        """Score one record."""
        key, question_id = record.cell.key, record.question_id
        cell = self.cells.setdefault(key, CellScores(record.cell))
        case = Case(record, self.questions[question_id], self.gold[question_id], self.documents)
        verdicts = self.shelf.take((key, question_id))
        judged = judge_case(case, self.metrics, verdicts, self.shelf.judges)
        scores = {score.metric: score for score in (*score_record(case), *judged.scores)}
        # Few values are distinct: a score that many questions have is held once.
        cell.scores[question_id] = tuple(self.shared.setdefault(score, score) for score in scores.values())
        cell.usage[question_id] = usage_of(record, self.prices)
        cell.failures[question_id] = find_failure(case, scores, "answer_accuracy" in self.metrics)
        cell.answers[question_id] = record.answer.text if record.answer else None
        cell.decisions.add(record)
        cell.controllers.add(case)
        for call in record.calls:
            if call.dropped:
                cell.dropped.setdefault(call.model, {}).update(dict.fromkeys(call.dropped))
        if record.failure is not None:
            before = cell.failed.get(record.failure.type, FailedKind(0, record.failure.message))
            cell.failed[record.failure.type] = FailedKind(before.questions + 1, before.message)
        for verdict in verdicts:
            asked = Cell("judge", NO_RETRIEVAL_MODE, verdict.judge, {"base_url": self.judge_base_url})
            cell.judging += account_of(verdict.calls, asked, self.prices)
        human = self.labels.get((key, question_id))
        for verdict in judged.verdicts:
            self.tally.add(verdict, em=scores["answer_em"].value, human=human)
