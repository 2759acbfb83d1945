from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.leaderboard.metrics import COVERAGE_FLOOR
from arena.types import Partial, Score
from tests.unit.leaderboard.summaries import summary_of

SLACK = 1e-9


@st.composite
def judged(draw: st.DrawFn) -> tuple[float, Score]:
    """What a judge would have said, and what is known of it: all, some of its statements, or nothing."""
    statements = draw(st.lists(st.booleans(), min_size=1, max_size=6))
    value = sum(statements) / len(statements)
    match draw(st.sampled_from(["whole", "whole", "partly", "lost"])):
        case "whole":
            return value, Score("faithfulness", value)
        case "lost":
            return value, Score("faithfulness", None, "not_judged")
    known = draw(st.integers(0, len(statements) - 1))
    supported = sum(statements[:known])
    low, high = supported / len(statements), (supported + len(statements) - known) / len(statements)
    partial = Partial(known=known / len(statements), low=low, high=high)
    return value, Score("faithfulness", None, "not_judged", partial)


@given(st.lists(judged(), min_size=1, max_size=60))
def test_the_bounds_hold_the_mean_of_complete_scores_whatever_is_missing(marked: list[tuple[float, Score]]) -> None:
    complete = summary_of([Score("faithfulness", value) for value, _ in marked]).mean
    partial = summary_of([score for _, score in marked])
    assert complete is not None
    assert partial.lower_bound is not None
    assert partial.upper_bound is not None
    assert partial.lower_bound - SLACK <= complete <= partial.upper_bound + SLACK
    if partial.mean is not None:
        assert partial.lower_bound - SLACK <= partial.mean <= partial.upper_bound + SLACK
        assert partial.mean - complete <= partial.upper_bound - partial.lower_bound + SLACK
        if partial.ci_low is not None and partial.ci_high is not None:
            assert partial.ci_low <= partial.mean <= partial.ci_high


@given(st.lists(st.floats(0, 1), min_size=10, max_size=60))
def test_losing_three_of_ten_scores_withholds_the_mean(values: list[float]) -> None:
    lost = set(range(0, len(values), 3))
    scores = [Score("x", None, "failed") if place in lost else Score("x", value) for place, value in enumerate(values)]
    summary = summary_of(scores)
    assert summary.mean is None
    assert (summary.ci_low, summary.ci_high) == (None, None)
    assert summary.n == len(values) - len(lost)


def test_a_partly_known_score_counts_by_what_is_known_of_it() -> None:
    """One of five statements judged, and supported: coverage 0.2 of that answer, not faithfulness 1."""
    one = Score("faithfulness", None, "not_judged", Partial(known=0.2, low=0.2, high=1.0))
    summary = summary_of([one])
    assert (summary.mean, summary.n) == (None, 0)
    assert summary.coverage == pytest.approx(0.2)
    assert (summary.lower_bound, summary.upper_bound) == pytest.approx((0.2, 1.0))
    among = summary_of([Score("faithfulness", 0.5)] * 19 + [one])
    assert among.coverage == pytest.approx(19.2 / 20)
    assert among.mean == 0.5
    assert (among.lower_bound, among.upper_bound) == pytest.approx((9.7 / 20, 10.5 / 20))


def test_a_mean_that_the_missing_rule_out_is_moved_to_the_bound() -> None:
    nearly_all = Score("x", None, "not_judged", Partial(known=0.9, low=0.9, high=1.0))
    summary = summary_of([Score("x", 0.5)] * 60 + [nearly_all] * 30)
    assert summary.coverage == pytest.approx(87 / 90)
    assert summary.mean == summary.lower_bound == pytest.approx((30 + 27) / 90)
    assert summary.mean is not None
    assert summary.ci_high is not None
    assert summary.ci_high >= summary.mean


def test_scores_of_which_all_are_partly_known_have_no_mean() -> None:
    summary = summary_of([Score("x", None, "not_judged", Partial(0.96, 0.5, 0.54))] * 30)
    assert (summary.mean, summary.n) == (None, 0)
    assert summary.coverage == pytest.approx(0.96)


def test_undefined_scores_do_not_touch_coverage() -> None:
    summary = summary_of([Score("mrr", 1.0), Score("mrr", None, "no_gold")])
    assert (summary.mean, summary.n, summary.coverage) == (1.0, 1, 1.0)
    nothing = summary_of([Score("mrr", None, "no_gold")])
    assert (nothing.mean, nothing.n, nothing.coverage) == (None, 0, None)


def test_a_mean_is_withheld_just_below_the_floor() -> None:
    def with_failures(failures: int) -> list[Score]:
        return [Score("x", 0.5)] * (100 - failures) + [Score("x", None, "failed")] * failures

    allowed = round(100 * (1 - COVERAGE_FLOOR))
    assert summary_of(with_failures(allowed)).mean == 0.5
    assert summary_of(with_failures(allowed + 1)).mean is None


def test_one_value_has_a_mean_and_no_interval() -> None:
    summary = summary_of([Score("x", 1.0)])
    assert (summary.mean, summary.ci_low, summary.ci_high, summary.n) == (1.0, None, None, 1)


def test_equal_values_are_no_certainty() -> None:
    summary = summary_of([Score("x", 1.0)] * 30)
    assert summary.ci_low == pytest.approx(30 / (30 + 1.96**2), abs=1e-4)  # Wilson with nothing missed
    assert summary.ci_high == 1.0


def test_a_binary_metric_gets_the_interval_of_a_proportion() -> None:
    binary, other = (
        summary_of([Score(metric, float(place < 10)) for place in range(40)]) for metric in ("answer_em", "answer_f1")
    )
    assert binary.ci_low == pytest.approx(0.1419, abs=1e-4)
    assert binary.ci_high == pytest.approx(0.4019, abs=1e-4)
    assert (other.ci_low, other.ci_high) != (binary.ci_low, binary.ci_high)


def test_intervals_are_the_same_every_time_and_hold_the_mean() -> None:
    scores = [Score("x", value / 40) for value in range(41)]
    first, second, other = (summary_of(scores, seed) for seed in (5, 5, 6))
    assert first == second != other
    assert first.ci_low is not None
    assert first.mean == pytest.approx(0.5)
    assert first.ci_low < 0.5 < (first.ci_high or 0)
