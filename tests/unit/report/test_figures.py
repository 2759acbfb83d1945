from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.leaderboard.schema import LatencySummary, MetricSummary, Ranks, TokenSummary
from arena.report.figures import (
    difference_text,
    metric_text,
    p_text,
    ranks_text,
    ratio_interval_text,
    seconds_text,
    signed_interval_text,
    signed_text,
    tokens_text,
    usd_text,
)
from arena.statistics.intervals import Interval
from arena.types import Score
from tests.unit.leaderboard.boards import NOT_DEFINED, PATCHY, SOUND, WITHHELD, row
from tests.unit.leaderboard.summaries import summary_of

BOUNDS = re.compile(r"\[(\d?\.\d\d), (\d?\.\d\d)\]$")


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        (None, "–"),
        (NOT_DEFINED, "–"),
        (SOUND, "0.56 .49–.63"),
        (PATCHY, "0.56 .49–.63 [.54, .58]"),
        (WITHHELD, "[.37, .71]"),
        (SOUND.model_copy(update={"mean": 1.0, "ci_low": None, "ci_high": None}), "1.00"),
        (SOUND.model_copy(update={"mean": 0.0, "ci_low": 0.0, "ci_high": 1.0}), "0.00 .00–1.00"),
        (SOUND.model_copy(update={"ci_low": 0.1 + 0.2, "ci_high": 0.57}), "0.56 .30–.57"),
    ],
)
def test_a_metric_in_one_cell_of_the_table(summary: MetricSummary | None, text: str) -> None:
    assert metric_text(summary) == text


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_no_set_of_failures_improves_the_bounds_shown(marked: list[tuple[float, bool]]) -> None:
    complete = summary_of([Score("x", value) for value, _ in marked]).mean
    shown = summary_of([Score("x", None, "failed") if lost else Score("x", value) for value, lost in marked])
    found = BOUNDS.search(metric_text(shown))
    assert (found is not None) == any(lost for _, lost in marked)
    if found is not None:
        assert complete is not None
        assert float(found[1]) <= complete + 1e-9
        assert float(found[2]) >= complete - 1e-9


def test_seconds_say_how_many_failed_questions_they_leave_out() -> None:
    assert seconds_text(row()) == "0.41 / 0.93"
    assert seconds_text(row(failed=2)) == "0.41 / 0.93 (2 failed)"
    unmeasured = LatencySummary(mean=None, p50=None, p95=None, n_measured=0)
    assert seconds_text(row(failed=60).model_copy(update={"latency_seconds": unmeasured})) == "– (60 failed)"


def test_tokens_are_a_sum_unknown_or_none() -> None:
    assert tokens_text(row()) == "1,234"
    unknown = TokenSummary(input=100.0, output=None)
    assert tokens_text(row().model_copy(update={"tokens_per_question": unknown})) == "unknown"
    assert tokens_text(row().model_copy(update={"tokens_per_question": TokenSummary(input=0.0, output=0.0)})) == "0"


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (None, "–"),
        (0.0, "0"),
        (1.23456e-5, "0.0000123"),
        (0.00423, "0.00423"),
        (0.1, "0.1"),
        (1.0, "1.00"),
        (1234.567, "1,234.57"),
    ],
)
def test_money_keeps_the_digits_that_count(usd: float | None, text: str) -> None:
    assert usd_text(usd) == text


def test_ranks_are_a_range_or_one_number() -> None:
    assert ranks_text(Ranks(best=1, worst=3, in_top_group=True)) == "1\N{EN DASH}3"
    assert ranks_text(Ranks(best=2, worst=2, in_top_group=False)) == "2"
    assert ranks_text(None) == "\N{EN DASH}"


def test_a_difference_has_its_sign_and_is_rounded_outwards() -> None:
    assert (signed_text(0.1249), signed_text(-0.05), signed_text(None)) == ("+0.12", "-0.05", "\N{EN DASH}")
    assert signed_interval_text(-0.021, 0.111) == "-0.03 to +0.12"
    assert signed_interval_text(0.021, 0.1) == "+0.02 to +0.10"
    assert signed_interval_text(None, 0.1) == "\N{EN DASH}"


def test_an_interval_alone_reads_as_in_the_leaderboard() -> None:
    interval = Interval(0.5, 0.431, 0.569)
    summary = MetricSummary(mean=0.5, ci_low=0.431, ci_high=0.569, n=9, coverage=1.0)
    assert ratio_interval_text(interval) == metric_text(summary) == "0.50 .43–.57"
    assert difference_text(interval) == "+0.50 (+0.43 to +0.57)"
    assert (ratio_interval_text(None), difference_text(None)) == ("–", "–")


@pytest.mark.parametrize(("p", "text"), [(1e-4, "<0.001"), (0.0123, "0.012"), (1.0, "1.000"), (None, "\N{EN DASH}")])
def test_p_is_never_shown_as_zero(p: float | None, text: str) -> None:
    assert p_text(p) == text


def test_zero_has_no_sign_of_its_own() -> None:
    assert signed_text(-0.001) == signed_text(0.001) == "+0.00"
    assert signed_interval_text(-1e-17, -0.004) == "+0.00 to +0.00"
    assert signed_interval_text(-0.004, 0.004) == "-0.01 to +0.01"
