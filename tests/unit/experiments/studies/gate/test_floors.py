from __future__ import annotations

import numpy as np
import pytest

from arena.leaderboard.guards import GuardFinding
from arena.metrics.case import NOT_JUDGED
from arena.types import Score
from experiments.studies.gate.cells import ScoredCell
from experiments.studies.gate.checks import Check, floor_checks
from experiments.studies.gate.policy import ALONE, Bounds, Policy
from tests.unit.experiments.studies.gate.scored_cells import column, scored


def checks_of(cell: ScoredCell, policy: Policy) -> dict[str, Check]:
    return {check.metric: check for check in floor_checks([("vanilla/dense", cell)], policy)}


def hits(right: int, n: int = 40) -> dict[str, float]:
    return column([1.0] * right + [0.0] * (n - right))


@pytest.mark.parametrize(("right", "outcome"), [(31, "fail"), (32, "pass"), (40, "pass")])
def test_a_floor_is_reached_or_not(right: int, outcome: str) -> None:
    check = checks_of(scored({"hit_at_5": hits(right)}), Policy(floors={"hit_at_5": 0.8}))["hit_at_5"]
    assert (check.kind, check.outcome, check.limit) == ("floor", outcome, 0.8)
    assert check.new == pytest.approx(right / 40)


def test_a_floor_that_was_reached_by_few_questions_says_so() -> None:
    policy = Policy(floors={"hit_at_5": 0.8})
    lucky = checks_of(scored({"hit_at_5": hits(32)}), policy)["hit_at_5"]
    sure = checks_of(scored({"hit_at_5": hits(40)}), policy)["hit_at_5"]
    assert lucky.why == "within the limit here; so few questions may have by chance"
    assert sure.why == "within the limit"
    assert sure.at_worst is not None
    assert sure.at_worst > 0.9


def test_a_mean_that_meets_its_floor_on_paper_meets_it() -> None:
    tenths = scored({"mrr": column([0.1] * 7 + [0.2] * 3)})
    assert checks_of(tenths, Policy(floors={"mrr": 0.13}))["mrr"].outcome == "pass"


def test_failed_questions_are_below_every_floor() -> None:
    policy = Policy(floors={"hit_at_5": 0.8}, ceilings={"unsupported_claim": 0.1})
    cell = scored(
        {"hit_at_5": hits(40), "unsupported_claim": column([0.0] * 40)}, failed=[f"q{n:04}" for n in range(9)]
    )
    checks = checks_of(cell, policy)
    assert [checks[name].outcome for name in ("hit_at_5", "unsupported_claim")] == ["fail", "fail"]
    assert checks["unsupported_claim"].new == pytest.approx(9 / 40)


def test_no_unanswerable_question_may_be_answered() -> None:
    claims = {"unsupported_claim": column([0.0, 0.0, 0.0, 1.0])}
    check = checks_of(scored(claims), ALONE)["unsupported_claim"]
    assert (check.kind, check.outcome, check.new) == ("ceiling", "fail", 0.25)
    assert checks_of(scored({"unsupported_claim": column([0.0] * 4)}), ALONE)["unsupported_claim"].outcome == "pass"


def test_what_was_not_judged_decides_nothing() -> None:
    unknown = {f"q{n:04}": Score("faithfulness", None, NOT_JUDGED) for n in range(7, 10)}
    cell = scored({"faithfulness": {**column([1.0] * 7), **unknown}})
    assert checks_of(cell, Policy(floors={"faithfulness": 0.8}))["faithfulness"].outcome == "inconclusive"
    assert checks_of(cell, Policy(floors={"faithfulness": 0.7}))["faithfulness"].outcome == "pass"


def test_what_a_guard_calls_invalid_reaches_no_floor() -> None:
    cell = scored({"hit_at_5": hits(40)}, guards=[GuardFinding(guard="no_hits", message="nothing was found")])
    floors = {"hit_at_5": 0.1}
    assert checks_of(cell, Policy(floors=floors))["hit_at_5"].outcome == "fail"
    assert checks_of(cell, Policy(floors=floors, invalid="inconclusive"))["hit_at_5"].outcome == "inconclusive"


def test_spending_has_ceilings() -> None:
    cell = scored(
        {"answer_em": hits(20)},
        tokens=column([100.0] * 40),
        usd={**column([0.01] * 40), "q0000": None},
        seconds=column(np.linspace(0.0, 1.0, 40).tolist()),
    )
    checks = checks_of(cell, Policy(ceilings={"tokens": 99.0, "usd": 1.0, "p95_seconds": 2.0}))
    assert (checks["tokens"].outcome, checks["tokens"].new) == ("fail", 100.0)
    assert (checks["usd"].outcome, checks["usd"].why) == ("inconclusive", "unknown of 1 of 40 questions")
    assert (checks["p95_seconds"].outcome, checks["p95_seconds"].warn_only) == ("pass", True)
    assert checks["p95_seconds"].new == pytest.approx(0.95)


def test_a_limit_on_what_no_cell_has_is_missing_and_one_on_some_cells_is_not() -> None:
    ranked, silent = scored({"mrr": column([1.0])}), scored({"answer_em": column([1.0])})
    both = [("a", ranked), ("b", silent)]
    (check,) = floor_checks(both, Policy(floors={"mrr": 0.5}))
    assert (check.cell, check.outcome) == ("a", "pass")
    (absent,) = floor_checks(both, Policy(floors={"faithfulness": 0.5}))
    assert (absent.cell, absent.kind, absent.outcome) == ("any cell", "missing", "fail")
    assert {one.outcome for one in floor_checks(both, ALONE) if one.kind == "missing"} == {"inconclusive"}


def test_a_cell_may_have_its_own_limits() -> None:
    policy = Policy(floors={"hit_at_5": 0.9}, cells={"vanilla": Bounds(floors={"hit_at_5": 0.5})})
    assert checks_of(scored({"hit_at_5": hits(24)}), policy)["hit_at_5"].outcome == "pass"
