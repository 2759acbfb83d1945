from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from arena.config import PriceConfig
from arena.prices import PriceTable
from arena.report.leaderboard import COVERAGE_FLOOR, Leaderboard, build_leaderboard, summarise_metric
from arena.scoring import score_records
from arena.types import Cell, Dataset, LLMCall, RunRecord, Score
from tests.samples import answered, call, cell, failed

DESIGNED_CELL_KEYS = {
    "strategy",
    "retrieval_mode",
    "llm",
    "fidelity_tier",
    "n_questions",
    "n_answered",
    "n_abstained",
    "n_failed",
    "n_truncated",
    "params",
    "metrics",
    "latency_seconds",
    "tokens_per_question",
    "llm_calls_per_question",
    "retrievals_per_question",
    "cost_usd_per_question",
    "cost_usd_total",
    "spending",
    "on_pareto_front",
}


def built(dataset: Dataset, *records: RunRecord) -> Leaderboard:
    table = score_records(records, dataset)
    return build_leaderboard(table, dataset, run_id="r", fingerprint="f", tiers={}, seed=0)


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
    assert {"schema_version", "run_id", "fingerprint", "dataset", "prices", "cells", "comparisons"} <= set(raw)
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


def test_a_cell_carries_all_that_tells_it_from_its_namesakes(dataset: Dataset) -> None:
    shallow, deep = (Cell("vanilla", "dense", "fake:", {"k": k, "temperature": 0.0, "exact": True}) for k in (3, 10))
    rows = built(dataset, answered("q1", "x", of=shallow), answered("q1", "x", of=deep)).cells
    assert [row.params["k"] for row in rows] == [3, 10]
    read = Leaderboard.model_validate_json(built(dataset, answered("q1", "x", of=deep)).model_dump_json())
    assert [type(value) for value in read.cells[0].params.values()] == [int, float, bool]


def test_questions_with_a_reply_cut_off_are_counted_once(dataset: Dataset) -> None:
    cut = replace(answered("q1", "x"), calls=(call(finish_reason="length"), call(finish_reason="max_tokens")))
    whole = replace(answered("q2", "x"), calls=(call(finish_reason="stop"), call()))
    assert built(dataset, cut, whole).cells[0].n_truncated == 1


def test_undefined_scores_do_not_touch_coverage() -> None:
    summary = summarise_metric([Score("mrr", 1.0), Score("mrr", None, "no_gold")], seed=0)
    assert (summary.mean, summary.n, summary.coverage) == (1.0, 1, 1.0)
    nothing = summarise_metric([Score("mrr", None, "no_gold")], seed=0)
    assert (nothing.mean, nothing.n, nothing.coverage) == (None, 0, None)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_failures_leave_the_mean_of_the_whole_run_within_the_bounds(
    marked: list[tuple[float, bool]],
) -> None:
    complete = summarise_metric([Score("x", value) for value, _ in marked], seed=0).mean
    partial = summarise_metric([Score("x", None, "failed") if lost else Score("x", value) for value, lost in marked], 0)
    assert complete is not None
    assert partial.lower_bound is not None
    assert partial.upper_bound is not None
    assert partial.lower_bound <= complete <= partial.upper_bound
    if partial.mean is not None:
        assert partial.lower_bound <= partial.mean <= partial.upper_bound


def test_a_mean_is_withheld_just_below_the_floor() -> None:
    def with_failures(failures: int) -> list[Score]:
        return [Score("x", 0.5)] * (100 - failures) + [Score("x", None, "failed")] * failures

    allowed = round(100 * (1 - COVERAGE_FLOOR))
    assert summarise_metric(with_failures(allowed), seed=0).mean == 0.5
    assert summarise_metric(with_failures(allowed + 1), seed=0).mean is None


def test_one_value_has_a_mean_and_no_interval() -> None:
    summary = summarise_metric([Score("x", 1.0)], seed=0)
    assert (summary.mean, summary.ci_low, summary.ci_high, summary.n) == (1.0, None, None, 1)


def test_equal_values_are_no_certainty() -> None:
    summary = summarise_metric([Score("x", 1.0)] * 30, seed=0)
    assert summary.ci_low == pytest.approx(30 / (30 + 1.96**2), abs=1e-4)  # Wilson with nothing missed
    assert summary.ci_high == 1.0


def test_a_binary_metric_gets_the_interval_of_a_proportion() -> None:
    scores = [Score("answer_em", float(place < 10)) for place in range(40)]
    binary, other = summarise_metric(scores, seed=0, binary=True), summarise_metric(scores, seed=0)
    assert binary.ci_low == pytest.approx(0.1419, abs=1e-4)
    assert binary.ci_high == pytest.approx(0.4019, abs=1e-4)
    assert (other.ci_low, other.ci_high) != (binary.ci_low, binary.ci_high)


def test_the_oracle_is_never_on_the_front(dataset: Dataset) -> None:
    assert [row.on_pareto_front for row in board(dataset).cells] == [False, False]


def test_a_failure_puts_no_cell_on_the_front(dataset: Dataset) -> None:
    """Both answer q1; one gets q2 half right, the other fails it and would lead if failures were left out."""
    sound, broken = cell(strategy="sound"), cell(strategy="broken")
    unlucky = replace(failed("q2", of=broken), calls=(call(),))
    records = [answered("q1", "Ostrand", of=sound), answered("q2", "in 1871", of=sound)]
    rows = built(dataset, *records, answered("q1", "Ostrand", of=broken), unlucky).cells
    assert [row.on_pareto_front for row in rows] == [True, False]


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


def test_calls_of_a_cell_without_any_are_free(dataset: Dataset) -> None:
    record = answered("q1", "x", ("d1",))
    free = replace(record, calls=())
    summary = build_leaderboard(score_records([free], dataset), dataset, run_id="r", fingerprint="f", tiers={}, seed=0)
    assert summary.cells[0].cost_usd_per_question == 0.0


def test_money_is_that_of_all_calls_and_what_was_replayed_stands_apart(dataset: Dataset) -> None:
    prices = PriceTable(
        {"fake:": PriceConfig(input_usd_per_million=1e4, output_usd_per_million=1e5)}, date(2026, 1, 31)
    )
    records = [
        replace(answered("q1", "x"), calls=(call(), call(replayed=True))),
        replace(failed("q2"), calls=(call(error="HTTP 500"),)),
    ]
    table = score_records(records, dataset, prices)
    board = build_leaderboard(table, dataset, run_id="r", fingerprint="f", tiers={}, seed=0, prices=prices)
    row, spending = board.cells[0], board.cells[0].spending
    assert row.cost_usd_per_question == pytest.approx(4.5 / 2)  # 100 * 0.01 + 5 * 0.1 a call
    assert row.cost_usd_total == pytest.approx(4.5)
    assert spending is not None
    assert (spending.calls, spending.attempts, spending.replayed_calls, spending.failed_calls) == (3, 3, 1, 1)
    assert spending.paid_usd == pytest.approx(3.0)
    assert spending.replayed_usd == pytest.approx(1.5)
    assert (spending.replayed_input_tokens, spending.replayed_output_tokens) == (100, 5)
    assert row.tokens_per_question.input == 150
    assert row.latency_seconds.n_measured == 0
    assert board.prices is not None
    assert (board.prices.as_of, board.prices.own) == ("2026-01-31", ["fake:"])
    assert Leaderboard.model_validate_json(board.model_dump_json()) == board


@pytest.mark.parametrize(
    ("calls", "price", "withheld"),
    [
        ((call(model="openai:no-such-model"),), None, "no_price"),
        (
            (call(), call(input_tokens=None)),
            PriceConfig(input_usd_per_million=1, output_usd_per_million=1),
            "unknown_usage",
        ),
        ((call(), call(replayed=True)), PriceConfig(gpu_usd_per_hour=1), "no_seconds"),
        ((call(input_tokens=None),), PriceConfig(gpu_usd_per_hour=1), None),
    ],
)
def test_unknown_money_is_withheld_with_its_reason(
    dataset: Dataset, calls: tuple[LLMCall, ...], price: PriceConfig | None, withheld: str | None
) -> None:
    prices = PriceTable({"fake:": price} if price else {}, date(2026, 1, 31))
    table = score_records([replace(answered("q1", "x"), calls=calls)], dataset, prices)
    row = build_leaderboard(table, dataset, run_id="r", fingerprint="f", tiers={}, seed=0, prices=prices).cells[0]
    assert row.spending is not None
    assert row.spending.withheld == withheld
    assert (row.cost_usd_per_question is None) == (withheld is not None)
