"""One row of the leaderboard, from the scores and the calls of one cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
from pydantic import Field

from arena.accounting import add_up
from arena.report.breakdown import break_down
from arena.report.closed_book_gain import ClosedBookGain
from arena.report.comparisons import Ranks
from arena.report.controller_scores import ControllerScores
from arena.report.controllers import ControllerSummary, ran_at, summarise_controllers
from arena.report.diagnosis import Symptom
from arena.report.failures import FailureSummary, summarise_failures
from arena.report.gap import GapSummary
from arena.report.guarding import GuardFinding
from arena.report.metric_summary import summarise_columns
from arena.report.question_resamples import QuestionResamples
from arena.report.roles import RoleSpending, summarise_roles
from arena.report.schema import LatencySummary, MetricSummary, Row, TokenSummary
from arena.report.score_columns import ScoreColumns
from arena.report.spending import SpendingSummary, summarise_spending
from arena.scoring import CellScores
from arena.statistics.intervals import percentile
from arena.types import Question, Scalar, Tier

_QUANTILES = range(0, 101, 5)


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
    latency_quantiles_seconds: list[float] = Field(
        default_factory=list,
        description="The 0th, 5th, ... 100th percentile of the same seconds, 21; empty where none was measured.",
    )
    n_warm_up: int = Field(default=0, description="Questions that the latency leaves out because they were the first.")
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
    controller_scores: ControllerScores | None = Field(
        default=None, description="What its decisions were worth, held against gold. None: it decides nothing."
    )
    spending: SpendingSummary | None = Field(default=None, description="None: written before money was counted.")
    roles: list[RoleSpending] = Field(
        default_factory=list, description="What each role of its calls took, in the order in which they were asked."
    )
    judging: SpendingSummary | None = Field(
        default=None, description="What judging its answers took, apart from what answering did. None: not judged."
    )
    breakdown: dict[str, dict[str, dict[str, MetricSummary]]] = Field(
        default_factory=dict, description="By kind, hops and hop_shape -> its value -> metric."
    )
    failures: FailureSummary | None = None
    diagnosis: list[Symptom] = Field(default_factory=list)
    gap: GapSummary | None = None
    gain_over_closed_book: dict[str, ClosedBookGain] = Field(
        default_factory=dict,
        description="Metric -> what it adds to what its model knows. Empty: closed_book was not run.",
    )
    ranks: dict[str, Ranks] = Field(default_factory=dict, description="Metric -> the ranks the cell may have.")
    guards: list[GuardFinding] = Field(default_factory=list, description="Why the cell, or a metric of it, is invalid.")
    on_pareto_front: bool = Field(
        description="No other cell has at least this answer F1 for at most these tokens per question and is strictly "
        "better in one of them. F1 counts failed questions as 0; chance is not considered. False for the oracle, and "
        "where F1 or tokens are unknown or withheld."
    )

    @property
    def tokens(self) -> float | None:
        """Input and output tokens per question; None when either is unknown."""
        spent = self.tokens_per_question
        return None if spent.input is None or spent.output is None else spent.input + spent.output

    def invalid(self, metric: str) -> str | None:
        """Why this metric of the cell says nothing; None where it does."""
        return next((one.message for one in self.guards if one.metric in (None, metric)), None)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a summary of a cell needs beside its scores.

    `tiers`: strategy -> the highest tier it can run at. `probe`: cell key -> seconds per question, one at a time.
    """

    questions: Mapping[str, Question]
    resamples: QuestionResamples
    tiers: Mapping[str, Tier | None]
    probe: Mapping[str, Sequence[float]]


def summarise_cell(cell: CellScores, columns: ScoreColumns, around: Surroundings) -> CellSummary:
    """All that can be said of a cell without looking at another. `columns`: its scores."""
    usage = [cell.usage[one] for one in sorted(cell.usage)]
    account = add_up(one.account for one in usage)
    spent = account.whole
    resamples = around.resamples.of(columns.ids)
    measured = [one.latency_seconds for one in usage if one.measured]
    warm_up = [one.latency_seconds for one in usage if one.warm_up and one.outcome != "failed" and not one.replayed]
    probed = around.probe.get(cell.cell.key)
    return CellSummary(
        strategy=cell.cell.strategy,
        retrieval_mode=cell.cell.retrieval_mode,
        llm=cell.cell.llm,
        fidelity_tier=ran_at(cell.decisions, around.tiers.get(cell.cell.strategy)),
        cell=cell.cell.key,
        params=dict(cell.cell.params),
        n_questions=len(usage),
        n_answered=sum(one.outcome == "answered" for one in usage),
        n_abstained=sum(one.outcome == "abstained" for one in usage),
        n_failed=sum(one.outcome == "failed" for one in usage),
        n_truncated=sum(one.truncated for one in usage),
        metrics=summarise_columns(columns, resamples),
        latency_seconds=_latency(measured),
        latency_quantiles_seconds=[float(one) for one in np.percentile(measured, _QUANTILES)] if measured else [],
        n_warm_up=len(warm_up),
        warm_up_seconds=fsum(warm_up) / len(warm_up) if warm_up else None,
        serial_latency_seconds=None if probed is None else _latency(probed),
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
        roles=summarise_roles(usage),
        judging=summarise_spending(cell.judging) if cell.judging.whole.calls else None,
        failures=summarise_failures(cell.failures.values()) if cell.failures else None,
        breakdown=break_down(columns, around.questions, resamples),
        on_pareto_front=False,
    )


def _per(questions: int, total: float | None) -> float | None:
    return None if total is None else total / questions


def _latency(seconds: Sequence[float]) -> LatencySummary:
    if not seconds:
        return LatencySummary(mean=None, p50=None, p95=None, n_measured=0)
    values = np.array(seconds, dtype=np.float64)
    return LatencySummary(
        mean=fsum(values) / len(values),
        p50=percentile(values, 50),
        p95=percentile(values, 95),
        n_measured=len(values),
    )
