"""Score records against gold, and put the judges' verdicts beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from arena.accounting import account_of
from arena.judges.reading import JudgeCounts, score_of
from arena.judges.subject import settled, subject_of
from arena.metrics import score_record
from arena.metrics.case import NOT_JUDGED, Case
from arena.metrics.failures import find_failure
from arena.plan import Key
from arena.prices import PriceTable
from arena.scoring.table import CellScores, FailedKind, ScoreTable, usage_of
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


@dataclass(slots=True)
class VerdictIndex:
    """Verdicts by the record that they are about, and whose verdicts count.

    `judges`: metric -> the `judge_sha` whose verdicts are the scores.
    """

    by_key: dict[Key, list[Verdict]] = field(default_factory=dict)
    judges: dict[JudgeMetric, str] = field(default_factory=dict)

    def take(self, key: Key) -> list[Verdict]:
        """The verdicts on one record, in the order of their repeats; removed from the index."""
        return sorted(self.by_key.pop(key, ()), key=lambda one: (one.metric, one.judge_sha, one.repeat))


def index_verdicts(verdicts: Iterable[Verdict], judges: Mapping[JudgeMetric, str]) -> VerdictIndex:
    """Sort verdicts by record. `judges`: see `VerdictIndex`; one not in it goes by the judge with most verdicts."""
    index, counts = VerdictIndex(), Counter[tuple[JudgeMetric, str]]()
    for verdict in verdicts:
        index.by_key.setdefault((verdict.cell, verdict.question_id), []).append(verdict)
        counts[verdict.metric, verdict.judge_sha] += 1
    most = {metric: sha for (metric, sha), _ in sorted(counts.items(), key=lambda item: (item[1], item[0]))}
    index.judges = most | dict(judges)
    return index


def judge_case(
    case: Case, metrics: Sequence[JudgeMetric], verdicts: Sequence[Verdict], judges: Mapping[JudgeMetric, str]
) -> tuple[list[Score], list[Verdict]]:
    """The scores of `metrics`, in their order, and the verdicts that were made of the case, of whatever judge.

    A verdict on anything else than what is in `case` counts for nothing.
    """
    if not metrics:
        return [], []
    known = {metric: settled(case, metric) for metric in metrics}
    due = {metric for metric, score in known.items() if score is None}
    sha = subject_of(case).sha if due and verdicts else None
    own = [one for one in verdicts if one.metric in due and one.subject_sha == sha]
    counted = [one for one in own if one.judge_sha == judges.get(one.metric)]
    return [score or _verdict_score(metric, counted) for metric, score in known.items()], own


def _verdict_score(metric: JudgeMetric, counted: Sequence[Verdict]) -> Score:
    own = [one for one in counted if one.metric == metric]
    return score_of(own) if own else Score(metric, None, NOT_JUDGED)


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
        judges: metric -> the `judge_sha` whose verdicts count, where several judged (None: see `index_verdicts`).
        judge_base_url: where the judge was asked, which decides its price (None = at its provider's own address).
    """
    scorer = _Scorer(
        documents=documents if documents is not None else {one.doc_id: one for one in dataset.documents},
        questions={question.question_id: question for question in dataset.questions},
        gold=dataset.gold,
        prices=prices,
        metrics=tuple(judge_metrics),
        index=index_verdicts(verdicts, judges or {}),
        labels=labels or {},
        judge_base_url=judge_base_url,
        judge_counts=JudgeCounts(prices, judge_base_url),
    )
    for record in records:
        scorer.add(record)
    return ScoreTable(tuple(scorer.cells.values()), scorer.judge_counts if judge_metrics else None)


@dataclass(slots=True)
class _Scorer:
    documents: Mapping[str, Document]
    questions: Mapping[str, Question]
    gold: Mapping[str, Gold]
    prices: PriceTable | None
    metrics: tuple[JudgeMetric, ...]
    index: VerdictIndex
    labels: Mapping[Key, bool]
    judge_base_url: str | None
    judge_counts: JudgeCounts
    cells: dict[str, CellScores] = field(default_factory=dict)
    shared: dict[Score, Score] = field(default_factory=dict)

    def add(self, record: RunRecord) -> None:
        """Score one record."""
        key, question_id = record.cell.key, record.question_id
        cell = self.cells.setdefault(key, CellScores(record.cell))
        case = Case(record, self.questions[question_id], self.gold[question_id], self.documents)
        verdicts = self.index.take((key, question_id))
        judged, own = judge_case(case, self.metrics, verdicts, self.index.judges)
        scores = {score.metric: score for score in (*score_record(case), *judged)}
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
        for verdict in own:
            self.judge_counts.add(verdict, em=scores["answer_em"].value, human=human)
