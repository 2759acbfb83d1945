from __future__ import annotations

from typing import Any

import pytest

from arena.leaderboard.build import CellSummary, DatasetSummary, Leaderboard
from arena.leaderboard.controllers import BranchSummary, ControllerSummary
from arena.leaderboard.diagnosis import FailureCount, FailureSummary
from arena.leaderboard.gap import GapSummary
from arena.leaderboard.guards import GuardFinding
from arena.leaderboard.schema import LatencySummary, MetricSummary, Ranks, TokenSummary
from arena.tracking.runs import cell_figures, run_figures

F1 = MetricSummary(mean=0.5, ci_low=0.4, ci_high=0.6, n=9, coverage=0.9, lower_bound=0.45, upper_bound=0.55)
WITHHELD = MetricSummary(mean=None, ci_low=None, ci_high=None, n=1, coverage=0.1, lower_bound=0.0, upper_bound=0.9)


def row(**changes: Any) -> CellSummary:
    fields: dict[str, Any] = {
        "strategy": "vanilla",
        "retrieval_mode": "dense",
        "llm": "fake:",
        "fidelity_tier": None,
        "cell": "vanilla/dense/0",
        "params": {"k": 5},
        "n_questions": 10,
        "n_answered": 9,
        "n_abstained": 0,
        "n_failed": 1,
        "n_truncated": 0,
        "metrics": {"answer_f1": F1, "faithfulness": WITHHELD},
        "latency_seconds": LatencySummary(mean=1.0, p50=0.9, p95=2.0, n_measured=9),
        "tokens_per_question": TokenSummary(input=100.0, output=None),
        "llm_calls_per_question": 1.0,
        "retrievals_per_question": 1.0,
        "cost_usd_per_question": None,
        "on_pareto_front": True,
    }
    return CellSummary(**fields | changes)


def test_a_metric_has_its_interval_and_coverage_in_groups() -> None:
    figures = cell_figures(row())
    assert figures["answer_f1"] == 0.5
    assert [figures[f"{part}/answer_f1"] for part in ("ci_low", "ci_high", "n", "coverage")] == [0.4, 0.6, 9.0, 0.9]
    assert figures["lower_bound/answer_f1"] == 0.45


def test_what_is_unknown_or_withheld_is_left_out_and_zero_is_zero() -> None:
    figures = cell_figures(row())
    assert "faithfulness" not in figures
    assert figures["coverage/faithfulness"] == 0.1
    assert "tokens_per_question/output" not in figures
    assert "cost_usd_per_question" not in figures
    assert figures["n_abstained"] == 0.0


def test_latency_tokens_and_flags_are_figures_and_settings_are_not() -> None:
    figures = cell_figures(row())
    assert figures["latency_seconds/p95"] == 2.0
    assert figures["tokens_per_question/input"] == 100.0
    assert figures["on_pareto_front"] == 1.0
    assert not [name for name in figures if name.startswith("params")]


def test_ranks_gap_failures_and_controllers() -> None:
    branch = BranchSummary(choice="no passage", n_questions=2, n_times=3, n_effective=1, evidence=1, query=0, answer=0)
    figures = cell_figures(
        row(
            ranks={"answer_f1": Ranks(best=1, worst=3, in_top_group=True)},
            gap=GapSummary(recovered=0.25, n=10),
            failures=FailureSummary(counts=[FailureCount(failure="index_miss", n=4)], broken_hops={2: 3}),
            controllers=[
                ControllerSummary(
                    node="retrieve?",
                    n_questions=2,
                    branches=[branch],
                    only_judges=False,
                    never_changed_anything=False,
                    always=None,
                )
            ],
            breakdown={"hops": {"2": {"answer_f1": F1, "faithfulness": WITHHELD}}},
        )
    )
    assert (figures["rank_best/answer_f1"], figures["rank_worst/answer_f1"]) == (1.0, 3.0)
    assert figures["in_top_group/answer_f1"] == 1.0
    assert figures["gap/recovered"] == 0.25
    assert "gap/ci_low" not in figures
    assert figures["failures/index_miss"] == 4.0
    assert figures["broken_hops/2"] == 3.0
    assert figures["controllers/retrieve_/no passage/n_times"] == 3.0
    assert figures["by_hops/2/answer_f1"] == 0.5
    assert "by_hops/2/faithfulness" not in figures


@pytest.mark.parametrize("metric", ["answer_f1", None])
def test_an_invalid_metric_is_never_under_the_name_that_charts_compare(metric: str | None) -> None:
    found = GuardFinding(guard="constant", message="always the same", metric=metric)
    figures = cell_figures(row(guards=[found], breakdown={"hops": {"2": {"answer_f1": F1}}}))
    assert "answer_f1" not in figures
    assert "by_hops/2/answer_f1" not in figures
    assert figures["invalid/answer_f1"] == 0.5


def test_the_run_adds_its_cells_up() -> None:
    dataset = DatasetSummary(name="small", fingerprint="dataset_0", n_documents=4, n_questions=5)
    board = Leaderboard(
        run_id="r1", fingerprint="run_0", dataset=dataset, cells=[row(), row()], detectable={"answer_f1": 0.1}
    )
    assert run_figures(board) == {
        "n_cells": 2.0,
        "n_questions": 20.0,
        "n_answered": 18.0,
        "n_abstained": 0.0,
        "n_failed": 2.0,
        "detectable/answer_f1": 0.1,
    }
