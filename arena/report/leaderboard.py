"""leaderboard.json: one row per cell, with intervals and coverage. These models are its schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Literal

import numpy as np
from pydantic import Field

from arena.accounting import add_up
from arena.metrics import METRICS, is_undefined
from arena.prices import PriceTable
from arena.report.comparisons import Comparison, Ranks
from arena.report.controllers import ControllerSummary, ran_at, summarise_controllers
from arena.report.diagnosis import Symptom
from arena.report.failures import FailureSummary
from arena.report.gap import GapSummary
from arena.report.guarding import GuardFinding
from arena.report.judge_card import JudgeCard
from arena.report.pareto import pareto_front
from arena.report.schema import LatencySummary, MetricSummary, Row, TokenSummary
from arena.report.spending import PriceSource, SpendingSummary, price_source, summarise_spending
from arena.scoring import CellScores, ScoreTable, by_metric
from arena.statistics.intervals import mean_interval, percentile
from arena.types import GOLD_MODE, Dataset, Scalar, Score, Tier

COVERAGE_FLOOR = 0.95
"""Below this share of defined questions that have a score, a mean is withheld: it would flatter the cell."""


class DatasetSummary(Row):
    """What was asked."""

    name: str
    fingerprint: str
    n_documents: int = Field(ge=0)
    n_questions: int = Field(ge=0, description="Questions the dataset holds; a cell's own n_questions were asked.")


class CellSummary(Row):
    """One row of the leaderboard."""

    strategy: str
    retrieval_mode: str
    llm: str | None
    fidelity_tier: Tier | None = Field(
        description="The lowest tier of any judgement in the cell. Without a judgement: T0, or None for a strategy "
        "that has no paper's arithmetic to be faithful to."
    )
    cell: str = Field(description="The cell's key in records.jsonl and scores.parquet.")
    params: dict[str, Scalar] = Field(description="All else that can change the cell's answers: k, temperature, ...")
    n_questions: int
    n_answered: int = Field(description="Completed without abstaining; for a strategy without a model: retrieved.")
    n_abstained: int
    n_failed: int
    n_truncated: int = Field(description="Questions with a reply that ended at the token limit, in any call.")
    metrics: dict[str, MetricSummary]
    latency_seconds: LatencySummary
    warm_up_seconds: float | None = Field(
        default=None, description="Mean over the first question of each process, which the latency leaves out."
    )
    serial_latency_seconds: LatencySummary | None = Field(
        default=None, description="Of the latency probe: the same cell, one question at a time. None: not probed."
    )
    tokens_per_question: TokenSummary
    llm_calls_per_question: float
    retrievals_per_question: float
    cost_usd_per_question: float | None = Field(
        description="What the calls cost, replayed ones at what they would have; None: that of any call is unknown."
    )
    cost_usd_total: float | None = None
    judgements: dict[str, int] = Field(default_factory=dict, description="Tier -> decisions that rest on it.")
    controllers: list[ControllerSummary] = Field(default_factory=list, description="What each branch came to.")
    spending: SpendingSummary | None = Field(default=None, description="None: written before money was counted.")
    judging: SpendingSummary | None = Field(
        default=None, description="What judging its answers took, apart from what answering did. None: not judged."
    )
    breakdown: dict[str, dict[str, dict[str, MetricSummary]]] = Field(
        default_factory=dict, description="By kind, hops and hop_shape -> its value -> metric."
    )
    failures: FailureSummary | None = None
    diagnosis: list[Symptom] = Field(default_factory=list)
    gap: GapSummary | None = None
    ranks: dict[str, Ranks] = Field(default_factory=dict, description="Metric -> the ranks the cell may have.")
    guards: list[GuardFinding] = Field(default_factory=list, description="Why the cell, or a metric of it, is invalid.")
    on_pareto_front: bool = Field(
        description="No other cell has at least this answer F1 for at most these tokens per question and is strictly "
        "better in one of them. F1 counts failed questions as 0; chance is not considered. False for the oracle, and "
        "where F1 or tokens are unknown."
    )


class Leaderboard(Row):
    """The whole file."""

    schema_version: Literal[1] = 1
    run_id: str
    fingerprint: str
    dataset: DatasetSummary
    prices: PriceSource | None = Field(default=None, description="None: nothing was priced.")
    cells: list[CellSummary]
    comparisons: list[Comparison] = Field(default_factory=list)
    detectable: dict[str, float] = Field(
        default_factory=dict,
        description="Metric -> the smallest difference between two cells that this many questions would show "
        "(80 % power, 5 % level).",
    )
    judges: list[JudgeCard] = Field(default_factory=list)


def build_leaderboard(
    table: ScoreTable,
    dataset: Dataset,
    *,
    run_id: str,
    fingerprint: str,
    tiers: Mapping[str, Tier | None],
    seed: int,
    prices: PriceTable | None = None,
) -> Leaderboard:
    """Summarise a score table.

    Args:
        table: the run's scores.
        dataset: what was asked.
        run_id: identity of the run folder.
        fingerprint: identity of the run's settings.
        tiers: highest fidelity tier of each strategy.
        seed: of the bootstrap. Every cell uses the same resamples for the same n.
        prices: what `table` was priced with, to be named.
    """
    rows = [_summarise(cell, tiers.get(cell.cell.strategy), seed) for cell in table.cells]
    front = pareto_front([(_value(row), _tokens(row)) for row in rows])
    return Leaderboard(
        run_id=run_id,
        fingerprint=fingerprint,
        dataset=DatasetSummary(
            name=dataset.name,
            fingerprint=dataset.fingerprint,
            n_documents=len(dataset.documents),
            n_questions=len(dataset.questions),
        ),
        prices=price_source(prices) if prices else None,
        cells=[row.model_copy(update={"on_pareto_front": on_front}) for row, on_front in zip(rows, front, strict=True)],
    )


def summarise_metric(scores: Sequence[Score], seed: int, *, binary: bool = False) -> MetricSummary:
    """Mean, interval, coverage and bounds of one metric of one cell; `binary`: each of its values is 0 or 1."""
    values = np.array([score.value for score in scores if score.value is not None], dtype=np.float64)
    missing = sum(score.value is None and not is_undefined(score.reason) for score in scores)
    due = len(values) + missing
    if due == 0:
        return MetricSummary(mean=None, ci_low=None, ci_high=None, n=0, coverage=None)
    coverage = len(values) / due
    shown = coverage >= COVERAGE_FLOOR
    interval = mean_interval(values, np.random.default_rng(seed), binary=binary) if shown else None
    return MetricSummary(
        mean=fsum(values) / len(values) if shown else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        n=len(values),
        coverage=coverage,
        lower_bound=fsum(values) / due,
        upper_bound=fsum([*values, missing]) / due,
    )


def _summarise(cell: CellScores, tier: Tier | None, seed: int) -> CellSummary:
    usage = list(cell.usage.values())
    account = add_up(one.account for one in usage)
    spent = account.whole
    return CellSummary(
        strategy=cell.cell.strategy,
        retrieval_mode=cell.cell.retrieval_mode,
        llm=cell.cell.llm,
        fidelity_tier=ran_at(cell.decisions, tier),
        cell=cell.cell.key,
        params=dict(cell.cell.params),
        n_questions=len(usage),
        n_answered=sum(one.outcome == "answered" for one in usage),
        n_abstained=sum(one.outcome == "abstained" for one in usage),
        n_failed=sum(one.outcome == "failed" for one in usage),
        n_truncated=sum(one.truncated for one in usage),
        metrics={
            name: summarise_metric(scores, seed, binary=name in METRICS and METRICS[name].binary)
            for name, scores in by_metric(cell).items()
        },
        latency_seconds=_latency([one.latency_seconds for one in usage if one.measured]),
        tokens_per_question=TokenSummary(
            input=_per(len(usage), spent.input_tokens.value), output=_per(len(usage), spent.output_tokens.value)
        ),
        llm_calls_per_question=spent.calls / len(usage),
        retrievals_per_question=sum(one.retrievals for one in usage) / len(usage),
        cost_usd_per_question=_per(len(usage), spent.usd.value),
        cost_usd_total=spent.usd.value,
        judgements=dict(sorted(cell.decisions.judgements.items())),
        controllers=summarise_controllers(cell.decisions),
        spending=summarise_spending(account),
        on_pareto_front=False,
    )


def _per(questions: int, total: float | None) -> float | None:
    return None if total is None else total / questions


def _latency(seconds: Sequence[float]) -> LatencySummary:
    if not seconds:
        return LatencySummary(mean=None, p50=None, p95=None, n_measured=0)
    values = np.array(seconds, dtype=np.float64)
    return LatencySummary(
        mean=float(values.mean()), p50=percentile(values, 50), p95=percentile(values, 95), n_measured=len(values)
    )


def _value(row: CellSummary) -> float | None:
    """Answer F1 with failed questions counted as 0; None for the oracle row, which nobody can buy."""
    if row.retrieval_mode == GOLD_MODE:
        return None
    f1 = row.metrics.get("answer_f1")
    return f1.lower_bound if f1 else None


def _tokens(row: CellSummary) -> float | None:
    spent = row.tokens_per_question
    return None if spent.input is None or spent.output is None else spent.input + spent.output
