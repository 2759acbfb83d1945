from __future__ import annotations

import numpy as np
import pytest

from arena.leaderboard.contest import ComparedCell, Contest, compare
from arena.leaderboard.metrics import QuestionResamples
from arena.leaderboard.schema import Ranks
from arena.statistics.intervals import SPREAD_FLOOR, Values
from arena.statistics.significance import detectable_difference
from arena.types import Question

IDS = tuple(f"q{place:03}" for place in range(100))
RESAMPLES = QuestionResamples([Question(one, "?", "multi_hop", 2) for one in IDS], seed=0)


def compared(*contenders: ComparedCell) -> Contest:
    return compare("answer_em", contenders, RESAMPLES, seed=0)


def first(n_right: int) -> Values:
    """Right on the first questions."""
    return (np.arange(100) < n_right).astype(np.float64)


def test_what_is_far_apart_is_told_apart_and_what_is_close_is_tied() -> None:
    standing = compared(
        ComparedCell("good", IDS, first(80)),
        ComparedCell("close", IDS, first(79)),
        ComparedCell("poor", IDS, first(20)),
    )
    assert standing.ranks == {
        "good": Ranks(best=1, worst=2, in_top_group=True),
        "close": Ranks(best=1, worst=2, in_top_group=True),
        "poor": Ranks(best=3, worst=3, in_top_group=False),
    }
    tie, win, _ = standing.comparisons
    assert (tie.a, tie.b, tie.n, tie.difference) == ("good", "close", 100, 0.01)
    assert (tie.p, tie.p_adjusted) == (1.0, 1.0)
    assert not tie.significant
    assert win.significant
    assert win.difference == pytest.approx(0.6)
    assert (win.p, win.p_adjusted) == pytest.approx((1 / 10_001, 3 / 10_001))
    assert win.ci_low is not None
    assert win.ci_high is not None
    assert 0.45 < win.ci_low < 0.6 < win.ci_high < 0.75


def test_cells_are_compared_on_the_questions_both_have_a_score_for() -> None:
    """The second answers half of the questions, all of them right; on those, so does the first."""
    half = first(100)
    half[50:] = np.nan
    standing = compared(ComparedCell("whole", IDS, first(50)), ComparedCell("half", IDS, half))
    (one,) = standing.comparisons
    assert (one.n, one.difference, one.p) == (50, 0.0, 1.0)


def test_cells_that_were_asked_different_questions_meet_on_the_common_ones() -> None:
    early = ComparedCell("early", IDS[:70], first(60)[:70])
    late = ComparedCell("late", IDS[40:], np.zeros(60))
    standing = compared(early, late, ComparedCell("all", IDS, first(60)))
    assert [(one.a, one.b, one.n) for one in standing.comparisons] == [
        ("early", "late", 30),
        ("early", "all", 70),
        ("late", "all", 60),
    ]
    assert [one.difference for one in standing.comparisons] == pytest.approx([20 / 30, 0.0, -20 / 60])


def test_who_does_not_compete_is_named_with_its_reason_and_outside_the_family() -> None:
    standing = compared(
        ComparedCell("a", IDS, first(60)),
        ComparedCell("b", IDS, first(30)),
        ComparedCell("c", IDS, first(0), "invalid, stuck"),
    )
    withheld = [one.withheld for one in standing.comparisons]
    assert withheld == [None, "c: invalid, stuck", "c: invalid, stuck"]
    assert standing.comparisons[0].p == standing.comparisons[0].p_adjusted
    assert set(standing.ranks) == {"a", "b"}
    assert all((one.difference, one.p, one.ci_low) == (None, None, None) for one in standing.comparisons[1:])


def test_one_cell_has_no_rank_and_no_shared_question_no_test() -> None:
    assert compared(ComparedCell("a", IDS, first(60))) == Contest((), {}, None)
    standing = compared(ComparedCell("a", IDS[:50], np.ones(50)), ComparedCell("b", IDS[50:], np.zeros(50)))
    assert standing.comparisons[0].withheld == "fewer than 2 questions have a score in both"
    assert standing.ranks == {}
    assert standing.detectable is None


def test_a_difference_on_a_handful_of_questions_tells_nothing_of_what_could_be_detected() -> None:
    few = compared(ComparedCell("a", IDS, first(80)), ComparedCell("b", IDS, first(80 - SPREAD_FLOOR + 1)))
    assert few.comparisons[0].p is not None
    assert few.detectable is None


def test_of_very_many_pairs_those_that_differ_are_still_found() -> None:
    """With 10,000 sign assignments the least p of one of 666 pairs would be 0.067 after Holm."""
    close = [ComparedCell(f"c{n:02}", IDS, first(60)) for n in range(36)]
    standing = compared(*close, ComparedCell("far", IDS, first(10)))
    assert sum(one.significant for one in standing.comparisons) == 36
    assert standing.ranks["far"] == Ranks(best=37, worst=37, in_top_group=False)


def test_what_could_be_detected_is_that_of_the_middle_pair() -> None:
    standing = compared(
        ComparedCell("a", IDS, first(80)), ComparedCell("b", IDS, first(70)), ComparedCell("c", IDS, first(20))
    )
    spreads = [float(np.std(first(x) - first(y), ddof=1)) for x, y in ((80, 70), (80, 20), (70, 20))]
    assert standing.detectable == pytest.approx(detectable_difference(100, sorted(spreads)[1]))
    equal = compared(ComparedCell("a", IDS, first(80)), ComparedCell("b", IDS, first(80)))
    assert equal.detectable is None


def test_p_does_not_depend_on_who_comes_first() -> None:
    a, b = ComparedCell("a", IDS, first(60)), ComparedCell("b", IDS, first(50))
    (forth,), (back,) = compared(a, b).comparisons, compared(b, a).comparisons
    assert forth.p == back.p
    assert forth.difference == -(back.difference or 0.0)
