"""Score records against gold, and put the judges' verdicts beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from arena.accounting import account_of
from arena.judges.reading import JudgeCounts, score_of
from arena.judges.subject import settled, subject_of
from arena.metrics import score_record
from arena.metrics.case import NOT_JUDGED, Case
from arena.metrics.failures import find_failure
from arena.plan import Key
from arena.prices import PriceTable
from arena.scoring.table import CellScores, ScoreTable, usage_of
from arena.types import (
    NO_RETRIEVAL_MODE,
    Cell,
    Dataset,
    Document,
    JudgeMetric,
    RunRecord,
    Score,
    Verdict,
    grouped,
)


def _counting(verdicts: Iterable[Verdict], judges: Mapping[JudgeMetric, str]) -> dict[JudgeMetric, str]:
    """`judges`; for a metric that is not among them, the judge with most verdicts."""
    counts = Counter((verdict.metric, verdict.judge_sha) for verdict in verdicts)
    most = {metric: sha for (metric, sha), _ in sorted(counts.items(), key=lambda item: (item[1], item[0]))}
    return most | dict(judges)


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
        judges: metric -> the `judge_sha` whose verdicts count, where several judged (else most verdicts decide).
        judge_base_url: where the judge was asked, which decides its price (None = at its provider's own address).
    """
    if documents is None:
        documents = {one.doc_id: one for one in dataset.documents}
    questions = {question.question_id: question for question in dataset.questions}
    verdicts = tuple(verdicts)
    counting = _counting(verdicts, judges or {})
    said = grouped(((verdict.cell, verdict.question_id), verdict) for verdict in verdicts)
    counts = JudgeCounts(prices, judge_base_url)
    cells: dict[str, CellScores] = {}
    shared: dict[Score, Score] = {}  # few values are distinct: a score that many questions have is held once
    for record in records:
        key = (record.cell.key, record.question_id)
        cell = cells.setdefault(key[0], CellScores(record.cell))
        case = Case(record, questions[record.question_id], dataset.gold[record.question_id], documents)
        found = sorted(said.pop(key, ()), key=lambda one: (one.metric, one.judge_sha, one.repeat))
        judged, own = judge_case(case, judge_metrics, found, counting)
        scores = {score.metric: score for score in (*score_record(case), *judged)}
        cell.scores[record.question_id] = tuple(shared.setdefault(score, score) for score in scores.values())
        cell.usage[record.question_id] = usage_of(record, prices)
        cell.failures[record.question_id] = find_failure(case, scores, "answer_accuracy" in judge_metrics)
        cell.note(case)
        for verdict in found:
            asked = Cell("judge", NO_RETRIEVAL_MODE, verdict.judge, {"base_url": judge_base_url})
            cell.judging += account_of(verdict.calls, asked, prices)
        for verdict in own:
            counts.add(verdict, em=scores["answer_em"].value, human=(labels or {}).get(key))
    return ScoreTable(tuple(cells.values()), counts if judge_metrics else None)
