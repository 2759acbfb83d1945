from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest
from pydantic import ValidationError

from arena.config import PriceConfig
from arena.leaderboard.build import Leaderboard, build_leaderboard
from arena.prices import PriceTable
from arena.scoring import score_records
from arena.types import Cell, Dataset, LLMCall, RunRecord
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


def test_the_oracle_is_never_on_the_front(dataset: Dataset) -> None:
    assert [row.on_pareto_front for row in board(dataset).cells] == [False, False]


def test_a_failure_puts_no_cell_on_the_front(dataset: Dataset) -> None:
    """Both answer q1; one gets q2 half right, the other fails it and would lead if failures were left out."""
    sound, broken = cell(strategy="sound"), cell(strategy="broken")
    unlucky = replace(failed("q2", of=broken), calls=(call(),))
    records = [answered("q1", "Ostrand", ("d1",), of=sound), answered("q2", "in 1871", ("d1",), of=sound)]
    rows = built(dataset, *records, answered("q1", "Ostrand", ("d1",), of=broken), unlucky).cells
    assert [row.on_pareto_front for row in rows] == [True, False]


def test_unknown_tokens_are_unknown_in_the_table_and_money_is_not_guessed(dataset: Dataset) -> None:
    row = board(dataset).cells[0]
    assert row.tokens_per_question.input is None
    assert row.cost_usd_per_question is None


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
