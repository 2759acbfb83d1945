"""Leaderboards made by hand, for tests of how they are shown."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from arena.leaderboard.build import CellSummary, DatasetSummary, Leaderboard
from arena.leaderboard.cells import PriceSource, SpendingSummary
from arena.leaderboard.schema import LatencySummary, MetricSummary, Ranks, TokenSummary
from arena.report.section import Section, print_section
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
    usd: float | None = None,
    spending: SpendingSummary | None = None,
    measured: int | None = None,
    ranks: Mapping[str, tuple[int, int]] | None = None,
) -> CellSummary:
    """A cell of 60 questions, all its metrics alike; those that did not fail were `measured` unless that is given."""
    n_measured = 60 - failed if measured is None else measured
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
        latency_seconds=LatencySummary(
            mean=0.5 if n_measured else None,
            p50=0.412 if n_measured else None,
            p95=0.934 if n_measured else None,
            n_measured=n_measured,
        ),
        tokens_per_question=TokenSummary(input=1200.4, output=33.8),
        llm_calls_per_question=1.0,
        retrievals_per_question=1.0,
        cost_usd_per_question=usd,
        spending=spending,
        ranks={
            name: Ranks(best=best, worst=worst, in_top_group=best == 1) for name, (best, worst) in (ranks or {}).items()
        },
        on_pareto_front=True,
    )


def spent(**changes: Any) -> SpendingSummary:
    """60 calls of a model with a price, a cent in all."""
    fields: dict[str, Any] = {
        "calls": 60,
        "attempts": 61,
        "repairs": 0,
        "failed_calls": 0,
        "unknown_calls": 0,
        "replayed_calls": 0,
        "replayed_input_tokens": 0,
        "replayed_output_tokens": 0,
        "usd": 0.01,
        "usd_at_least": 0.01,
        "paid_usd": 0.01,
        "replayed_usd": 0.0,
        "withheld": None,
    }
    return SpendingSummary(**fields | changes)


def board(*cells: CellSummary) -> Leaderboard:
    """A leaderboard of `cells` over a world of 240 documents."""
    world = DatasetSummary(name="world", fingerprint="data_0", n_documents=240, n_questions=60)
    prices = PriceSource(source="a-list 1.2", as_of="2026-01-31", own=[])
    return Leaderboard(run_id="r1", fingerprint="run_0", dataset=world, prices=prices, cells=list(cells))


def printed(section: Section | None, width: int = 100, *, terminal: bool = False) -> str:
    """The section in a terminal, or in a pipe."""
    out = io.StringIO()
    print_section(section, Console(file=out, width=width, force_terminal=terminal, color_system=None))
    return out.getvalue()
