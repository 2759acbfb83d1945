"""One row of the leaderboard: what a cell scored, used and cost, in all, by role of its calls and by what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

import numpy as np
from pydantic import Field

from arena.accounting import Account, Spend, add_up
from arena.leaderboard.controllers import ControllerScores, ControllerSummary, ran_at, summarise_controllers
from arena.leaderboard.diagnosis import FailureSummary, Symptom, summarise_failures
from arena.leaderboard.gap import ClosedBookGain, GapSummary
from arena.leaderboard.guards import GuardFinding
from arena.leaderboard.metrics import (
    COVERAGE_FLOOR,
    MetricRows,
    QuestionResamples,
    ScoreColumns,
    rows_by_value,
    summarise_columns,
    summarise_selections,
)
from arena.leaderboard.schema import HEADLINE, LatencySummary, MetricSummary, Ranks, Row, TokenSummary
from arena.prices import PriceTable
from arena.scoring import CellScores, Usage
from arena.statistics.intervals import Resamples, percentile
from arena.types import ALL_CALLS, Question, Scalar, Tier, grouped, sum_known

Withheld = Literal["no_price", "unknown_usage", "no_seconds"]
"""Why a cost is unknown: no price for a model, tokens not reported, replays of a model that is paid by the hour."""


class PriceSource(Row):
    """Where prices come from."""

    source: str = Field(description="The price list and its version.")
    as_of: str = Field(description="The day whose prices were taken, YYYY-MM-DD: that on which the run was started.")
    own: list[str] = Field(description="Models priced by the user instead.")


class SpendingSummary(Row):
    """All calls of one cell.

    Sums are None when the tokens or the price of any call are unknown; `usd_at_least` is the sum of what is known.
    Replayed calls are counted with what they would have used and cost, and apart.
    """

    calls: int = Field(ge=0)
    attempts: int = Field(ge=0, description="Requests inside the calls; retries make them more than the calls.")
    repairs: int = Field(ge=0, description="Calls that asked once more for what could not be read.")
    failed_calls: int = Field(ge=0)
    unknown_calls: int = Field(ge=0, description="Calls with an attempt whose tokens the provider did not report.")
    replayed_calls: int = Field(ge=0)
    replayed_input_tokens: float | None
    replayed_output_tokens: float | None
    usd: float | None = Field(description="Paid and replayed calls together.")
    usd_at_least: float
    paid_usd: float | None = Field(
        description="Of calls that were not replayed. A question given up by a stop is replayed when it is asked "
        "again, although the run had paid for it."
    )
    replayed_usd: float | None
    withheld: Withheld | None = Field(description="Why `usd` is None.")


def price_source(prices: PriceTable) -> PriceSource:
    """What `prices` were taken from."""
    return PriceSource(source=prices.source, as_of=prices.as_of.isoformat(), own=sorted(prices.own))


def summarise_spending(account: Account) -> SpendingSummary:
    """The account of one cell."""
    whole, replayed = account.whole, account.replayed
    return SpendingSummary(
        calls=whole.calls,
        attempts=whole.attempts,
        repairs=account.repairs,
        failed_calls=account.failed_calls,
        unknown_calls=account.unknown_calls,
        replayed_calls=replayed.calls,
        replayed_input_tokens=replayed.input_tokens.value,
        replayed_output_tokens=replayed.output_tokens.value,
        usd=whole.usd.value,
        usd_at_least=whole.usd.known,
        paid_usd=account.paid.usd.value,
        replayed_usd=replayed.usd.value,
        withheld=_withheld(account, whole),
    )


def _withheld(account: Account, whole: Spend) -> Withheld | None:
    if whole.usd.value is not None:
        return None
    if account.unpriced_calls:
        return "no_price"
    return "unknown_usage" if account.unknown_calls else "no_seconds"


class RoleSpending(Row):
    """The calls of one role, over all questions of a cell; tokens and money are None where any call's is unknown.

    `mean_service_seconds`: per question, of the calls themselves, without queueing; calls that overlap count each,
    replayed ones none.
    """

    role: str
    calls: int = Field(ge=1)
    calls_per_question: float | None = Field(description="None: one entry stands for all that a system did not list.")
    input_tokens_per_question: float | None
    output_tokens_per_question: float | None
    usd_per_question: float | None
    mean_service_seconds: float

    @property
    def tokens_per_question(self) -> float | None:
        """Input and output; None when either is unknown."""
        return sum_known((self.input_tokens_per_question, self.output_tokens_per_question))


def summarise_roles(usage: Sequence[Usage]) -> list[RoleSpending]:
    """One row per role, in the order in which they were first asked; empty for a cell that asks no model."""
    roles = grouped((role, account) for one in usage for role, account in one.roles.items())
    return [_role(role, add_up(accounts), len(usage)) for role, accounts in roles.items()]


def _role(role: str, account: Account, questions: int) -> RoleSpending:
    spent = account.whole
    return RoleSpending(
        role=role,
        calls=spent.calls,
        calls_per_question=None if role == ALL_CALLS else spent.calls / questions,
        input_tokens_per_question=_per_question(questions, spent.input_tokens.value),
        output_tokens_per_question=_per_question(questions, spent.output_tokens.value),
        usd_per_question=_per_question(questions, spent.usd.value),
        mean_service_seconds=account.service_seconds / questions,
    )


Breakdown = dict[str, dict[str, dict[str, MetricSummary]]]
"""Attribute of a question -> its value -> metric."""

_ATTRIBUTES = ("kind", "hops", "hop_shape")


def break_down(columns: ScoreColumns, questions: Mapping[str, Question], resamples: Resamples) -> Breakdown:
    """HEADLINE by every attribute that has more than one value among the questions of a cell.

    Questions without a value are in none of an attribute's groups. `resamples` are those of the cell's questions.
    """
    asked = [questions[one] for one in columns.ids]
    selections = {
        (name, str(value), metric): MetricRows(metric, rows)
        for name in _ATTRIBUTES
        for value, rows in rows_by_value([getattr(one, name) for one in asked]).items()
        for metric in HEADLINE
        if metric in columns.scores
    }
    found: Breakdown = {}
    for (name, value, metric), summary in summarise_selections(columns, selections, resamples).items():
        found.setdefault(name, {}).setdefault(value, {})[metric] = summary
    return found


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
    llm_calls_per_question: float | None = Field(description="None: a foreign system does not list its calls.")
    retrievals_per_question: float | None = Field(description="None: a foreign system does not say what it retrieves.")
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
    breakdown: Breakdown = Field(
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
        return sum_known((self.tokens_per_question.input, self.tokens_per_question.output))

    def defines(self, metric: str) -> bool:
        """Whether the metric is defined for any question of the cell."""
        return metric in self.metrics and self.metrics[metric].coverage is not None

    def invalid(self, metric: str) -> str | None:
        """Why this metric of the cell says nothing; None where it does."""
        return next((one.message for one in self.guards if one.metric in (None, metric)), None)

    def withheld(self, metric: str) -> str | None:
        """Why the cell does not compete on this metric; None where it does."""
        if invalid := self.invalid(metric):
            return f"invalid, {invalid}"
        summary = self.metrics.get(metric)
        if summary is None or summary.coverage is None:
            return f"has no {metric}"
        return f"coverage {summary.coverage:.1%} is under {COVERAGE_FLOOR:.0%}" if summary.mean is None else None


@dataclass(frozen=True, slots=True)
class SummaryContext:
    """What a summary of a cell needs beside its scores.

    `tiers`: strategy -> the highest tier it can run at. `probe`: cell key -> seconds per question, one at a time.
    """

    questions: Mapping[str, Question]
    resamples: QuestionResamples
    tiers: Mapping[str, Tier | None]
    probe: Mapping[str, Sequence[float]]


def summarise_cell(cell: CellScores, columns: ScoreColumns, context: SummaryContext) -> CellSummary:
    """All that can be said of a cell without looking at another. `columns`: its scores."""
    usage = [cell.usage[one] for one in sorted(cell.usage)]
    account = add_up(one.account for one in usage)
    spent = account.whole
    resamples = context.resamples.of(columns.ids)
    measured = [one.latency_seconds for one in usage if one.measured]
    warm_up = [one.latency_seconds for one in usage if one.warm_up and one.outcome != "failed" and not one.replayed]
    probed = context.probe.get(cell.cell.key)
    return CellSummary(
        strategy=cell.cell.strategy,
        retrieval_mode=cell.cell.retrieval_mode,
        llm=cell.cell.llm,
        fidelity_tier=ran_at(cell.decisions, context.tiers.get(cell.cell.strategy)),
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
            input=_per_question(len(usage), spent.input_tokens.value),
            output=_per_question(len(usage), spent.output_tokens.value),
        ),
        llm_calls_per_question=_per_question(len(usage), sum_known(one.calls for one in usage)),
        retrievals_per_question=_retrievals(usage),
        cost_usd_per_question=_per_question(len(usage), spent.usd.value),
        cost_usd_total=spent.usd.value,
        judgements=dict(sorted(cell.decisions.judgements.items())),
        controllers=summarise_controllers(cell.decisions),
        spending=summarise_spending(account),
        roles=summarise_roles(usage),
        judging=summarise_spending(cell.judging) if cell.judging.whole.calls else None,
        failures=summarise_failures(cell.failures.values()) if cell.failures else None,
        breakdown=break_down(columns, context.questions, resamples),
        on_pareto_front=False,
    )


def _retrievals(usage: Sequence[Usage]) -> float | None:
    """Per question, over those of which it is known; None where it is known of none."""
    known = [one.retrievals for one in usage if one.tells_evidence]
    return sum(known) / len(known) if known else None


def _per_question(questions: int, total: float | None) -> float | None:
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
