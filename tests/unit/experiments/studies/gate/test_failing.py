from __future__ import annotations

import pytest

from arena.leaderboard.metrics import QuestionResamples
from experiments.studies.gate.cells import ScoredCell
from experiments.studies.gate.checks import failing_checks
from experiments.studies.gate.margins import margin_checks
from experiments.studies.gate.policy import Policy
from tests.unit.experiments.studies.gate.scored_cells import column, questions, scored

N = 120
SELDOM_RIGHT = column([1.0] * 6 + [0.0] * (N - 6))


def failed(count: int) -> ScoredCell:
    """A cell that is right on 5 % of the questions; the last `count` failed."""
    return scored({"answer_em": SELDOM_RIGHT}, failed=list(SELDOM_RIGHT)[N - count :])


def test_a_cell_that_has_nothing_to_lose_does_not_get_by_with_half_of_its_questions_failed() -> None:
    pair = ("closed_book/none", failed(60), failed(0))
    assert {check.outcome for check in margin_checks([pair], Policy(), QuestionResamples(questions(N), 0), 0)} == {
        "inconclusive"
    }
    (check,) = failing_checks([pair], Policy())
    assert (check.metric, check.outcome, check.n) == ("failed", "fail", N)
    assert [check.new, check.old, check.limit] == pytest.approx([0.5, 0.0, 0.05])


@pytest.mark.parametrize(("now", "before", "found"), [(6, 0, 0), (7, 0, 1), (7, 6, 1), (7, 7, 0), (60, 60, 0)])
def test_as_many_as_withhold_a_mean_and_did_not_before(now: int, before: int, found: int) -> None:
    assert len(list(failing_checks([("a", failed(now), failed(before))], Policy()))) == found


def test_the_policy_may_let_it_pass_with_a_warning() -> None:
    (check,) = failing_checks([("a", failed(60), failed(0))], Policy(invalid="inconclusive"))
    assert check.outcome == "inconclusive"
