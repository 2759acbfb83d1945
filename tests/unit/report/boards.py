"""Leaderboards made by hand, for tests of how they are shown."""

from __future__ import annotations

from collections.abc import Mapping

from arena.report.leaderboard import (
    CellSummary,
    DatasetSummary,
    LatencySummary,
    Leaderboard,
    MetricSummary,
    TokenSummary,
)
from arena.types import Scalar

SOUND = MetricSummary(
    mean=0.5612, ci_low=0.4987, ci_high=0.6212, n=60, coverage=1.0, lower_bound=0.5612, upper_bound=0.5612
)
PATCHY = MetricSummary(
    mean=0.5612, ci_low=0.4987, ci_high=0.6212, n=58, coverage=58 / 60, lower_bound=0.5425, upper_bound=0.5759
)
WITHHELD = MetricSummary(
    mean=None, ci_low=None, ci_high=None, n=40, coverage=2 / 3, lower_bound=0.3741, upper_bound=0.7075
)
NOT_DEFINED = MetricSummary(mean=None, ci_low=None, ci_high=None, n=0, coverage=None)

METRIC_NAMES = (
    "retrieval_recall",
    "retrieval_precision",
    "full_recall",
    "recall_at_5",
    "mrr",
    "answer_em",
    "answer_f1",
    "answer_contains",
)


def row(
    strategy: str = "retrieval_only",
    mode: str = "hybrid_rerank",
    *,
    llm: str | None = "local:smollm2-135m",
    metric: MetricSummary = SOUND,
    params: Mapping[str, Scalar] | None = None,
    failed: int = 0,
    abstained: int = 0,
    truncated: int = 0,
) -> CellSummary:
    """A cell of 60 questions, all its metrics alike."""
    return CellSummary(
        strategy=strategy,
        retrieval_mode=mode,
        llm=llm,
        fidelity_tier=None,
        cell=f"{strategy}/{mode}",
        params=dict(params or {}),
        n_questions=60,
        n_answered=60 - failed - abstained,
        n_abstained=abstained,
        n_failed=failed,
        n_truncated=truncated,
        metrics=dict.fromkeys(METRIC_NAMES, metric),
        latency_seconds=LatencySummary(mean=0.5, p50=0.412, p95=0.934, n_measured=60 - failed),
        tokens_per_question=TokenSummary(input=1200.4, output=33.8),
        llm_calls_per_question=1.0,
        retrievals_per_question=1.0,
        cost_usd_per_question=None,
        on_pareto_front=True,
    )


def board(*cells: CellSummary) -> Leaderboard:
    """A leaderboard of `cells` over a world of 240 documents."""
    world = DatasetSummary(name="world", fingerprint="data_0", n_documents=240, n_questions=60)
    return Leaderboard(run_id="r1", fingerprint="run_0", dataset=world, cells=list(cells))
