from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from pydantic import ValidationError
from rich.console import Console

from arena.report.console import print_leaderboard
from arena.report.leaderboard import Leaderboard, MetricSummary, build_leaderboard, summarise_metric
from arena.report.markdown import render_markdown
from arena.report.rows import leaderboard_rows, metric_text
from arena.scoring import score_records
from arena.types import Cell, Dataset, Score
from tests.samples import answered, cell, failed

DESIGNED_CELL_KEYS = {
    "strategy",
    "retrieval_mode",
    "llm",
    "fidelity_tier",
    "n_questions",
    "n_answered",
    "n_abstained",
    "n_failed",
    "metrics",
    "latency_seconds",
    "tokens_per_question",
    "llm_calls_per_question",
    "retrievals_per_question",
    "cost_usd_per_question",
    "on_pareto_front",
}


def board(dataset: Dataset) -> Leaderboard:
    oracle = Cell("oracle", "gold", "fake:", {})
    records = [
        answered("q1", "Ostrand", ("d1", "d2")),
        answered("q2", "I don't know", ("d2",), abstained=True),
        failed("q3"),
        answered("q2", "1871", ("d1",), of=oracle),
    ]
    return build_leaderboard(
        score_records(records, dataset), dataset, run_id="r1", fingerprint="run_0", tiers={"vanilla": None}, seed=0
    )


def test_the_file_has_the_promised_shape_and_reads_back(dataset: Dataset) -> None:
    text = board(dataset).model_dump_json()
    raw = json.loads(text)
    assert set(raw) == {"schema_version", "run_id", "fingerprint", "dataset", "cells", "comparisons"}
    assert not DESIGNED_CELL_KEYS - set(raw["cells"][0])
    assert not {"mean", "ci_low", "ci_high", "n", "coverage"} - set(raw["cells"][0]["metrics"]["answer_f1"])
    assert set(raw["cells"][0]["latency_seconds"]) == {"mean", "p50", "p95", "n_measured"}
    assert Leaderboard.model_validate_json(text) == board(dataset)


def test_an_unknown_field_is_refused(dataset: Dataset) -> None:
    raw = json.loads(board(dataset).model_dump_json())
    raw["cells"][0]["score"] = 1.0
    with pytest.raises(ValidationError):
        Leaderboard.model_validate(raw)


def test_counts_of_outcomes_add_up(dataset: Dataset) -> None:
    row = board(dataset).cells[0]
    assert (row.n_questions, row.n_answered, row.n_abstained, row.n_failed) == (3, 1, 1, 1)


def test_a_mean_with_missing_scores_is_withheld_and_bounded(dataset: Dataset) -> None:
    f1 = board(dataset).cells[0].metrics["answer_f1"]
    assert f1.mean is None
    assert f1.n == 2
    assert f1.coverage == pytest.approx(2 / 3)
    assert f1.lower_bound == pytest.approx(1 / 3)
    assert f1.upper_bound == pytest.approx(2 / 3)
    assert metric_text(f1) == "withheld (67%)"


def test_undefined_scores_do_not_touch_coverage() -> None:
    summary = summarise_metric([Score("mrr", 1.0), Score("mrr", None, "no_gold")], seed=0)
    assert (summary.mean, summary.n, summary.coverage) == (1.0, 1, 1.0)
    nothing = summarise_metric([Score("mrr", None, "no_gold")], seed=0)
    assert (nothing.mean, nothing.n, nothing.coverage) == (None, 0, None)


def test_failing_never_raises_a_mean_above_its_upper_bound() -> None:
    scores = [Score("x", value) for value in (1.0, 0.0, 1.0, 0.0)]
    complete = summarise_metric(scores, seed=0)
    for dropped in range(4):
        partial = [Score("x", None, "failed") if place == dropped else score for place, score in enumerate(scores)]
        summary = summarise_metric(partial, seed=0)
        assert complete.mean is not None
        assert summary.lower_bound is not None
        assert summary.upper_bound is not None
        assert summary.lower_bound <= complete.mean <= summary.upper_bound


def test_the_oracle_is_never_on_the_front(dataset: Dataset) -> None:
    assert [row.on_pareto_front for row in board(dataset).cells] == [False, False]


def test_unknown_tokens_are_unknown_in_the_table_and_money_is_not_guessed(dataset: Dataset) -> None:
    row = board(dataset).cells[0]
    assert row.tokens_per_question.input is None
    assert row.cost_usd_per_question is None


def test_intervals_are_the_same_every_time_and_hold_the_mean(dataset: Dataset) -> None:
    scores = [Score("x", value / 10) for value in range(11)]
    first, second = summarise_metric(scores, seed=5), summarise_metric(scores, seed=5)
    assert first == second
    assert first.ci_low is not None
    assert first.mean == pytest.approx(0.5)
    assert first.ci_low < 0.5 < (first.ci_high or 0)


def test_the_console_shows_names_from_data_as_text(dataset: Dataset) -> None:
    hostile = cell(strategy="[bold red]x[/]")
    table = score_records([answered("q1", "x", ("d1",), of=hostile)], dataset)
    summary = build_leaderboard(table, dataset, run_id="r", fingerprint="f", tiers={}, seed=0)
    out = io.StringIO()
    print_leaderboard(summary, Console(file=out))
    assert "[bold red]x[/]" in out.getvalue()


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        (None, "–"),
        (MetricSummary(mean=0.5, ci_low=0.4, ci_high=0.6, n=9, coverage=1.0), "0.50 ±.10"),
        (MetricSummary(mean=1.0, ci_low=1.0, ci_high=1.0, n=9, coverage=1.0), "1.00 ±.00"),
        (MetricSummary(mean=None, ci_low=None, ci_high=None, n=0, coverage=None), "–"),
    ],
)
def test_a_metric_in_one_cell_of_the_table(summary: MetricSummary | None, text: str) -> None:
    assert metric_text(summary) == text


def test_calls_of_a_cell_without_any_are_free(dataset: Dataset) -> None:
    record = answered("q1", "x", ("d1",))
    free = replace(record, calls=())
    summary = build_leaderboard(score_records([free], dataset), dataset, run_id="r", fingerprint="f", tiers={}, seed=0)
    assert summary.cells[0].cost_usd_per_question == 0.0


def test_every_row_has_every_column_and_metrics_nobody_has_are_left_out(dataset: Dataset) -> None:
    table = score_records([answered("q5", "x", ("d1",))], dataset)
    summary = build_leaderboard(table, dataset, run_id="r", fingerprint="f", tiers={}, seed=0)
    content = leaderboard_rows(summary)
    assert "EM" not in content.headings
    full = leaderboard_rows(board(dataset))
    assert "EM" in full.headings
    assert {len(row) for row in full.rows} == {len(full.headings)}
    assert len(leaderboard_rows(board(dataset), wide=False).headings) < len(full.headings)


def test_markdown_is_a_table_that_names_cannot_break(dataset: Dataset) -> None:
    table = score_records([answered("q1", "x", ("d1",), of=cell(strategy="a|b"))], dataset)
    lines = render_markdown(
        build_leaderboard(table, dataset, run_id="r", fingerprint="run_1", tiers={}, seed=0)
    ).splitlines()
    assert {line.replace("\\|", "").count("|") for line in lines[:3]} == {lines[0].count("|")}
    assert "`run_1`" in lines[-1]
