from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from arena.leaderboard.guards import GuardFinding
from arena.leaderboard.metrics import QuestionResamples
from arena.metrics.case import ABSTAINED, FAILED, NOT_JUDGED, PARTLY_JUDGED
from arena.types import Partial, Score
from experiments.studies.gate.cells import ScoredCell
from experiments.studies.gate.checks import Check
from experiments.studies.gate.margins import margin_checks
from experiments.studies.gate.policy import Policy
from tests.unit.experiments.studies.gate.scored_cells import column, questions, scored

N = 120
RESAMPLES = QuestionResamples(questions(N), 0)
HALF = [1.0, 0.0] * (N // 2)


def checks_of(new: ScoredCell, old: ScoredCell, policy: Policy | None = None) -> dict[str, Check]:
    checks = margin_checks([("vanilla/dense", new, old)], policy or Policy(), RESAMPLES, 0)
    return {check.metric: check for check in checks}


def one(metric: str, new: Sequence[float], old: Sequence[float], policy: Policy | None = None) -> Check:
    return checks_of(scored({metric: column(new)}), scored({metric: column(old)}), policy)[metric]


def lowered(values: Sequence[float], points: float) -> list[float]:
    """The first that are not 0 set to 0, until the mean is `points` lower."""
    left, out = points * len(values), []
    for value in values:
        taken = value if left >= value else 0.0
        left -= taken
        out.append(value - taken)
    return out


def test_a_regression_of_ten_points_in_recall_is_caught() -> None:
    check = one("retrieval_recall", lowered(HALF, 0.1), HALF)
    assert check.outcome == "fail"
    assert check.change == pytest.approx(-0.1)
    assert check.p == pytest.approx(2.0**-12)
    assert [check.new, check.old, check.n] == pytest.approx([0.4, 0.5, N])


def test_the_same_scores_pass_and_say_how_little_that_may_mean() -> None:
    check = one("retrieval_recall", HALF, HALF)
    assert (check.outcome, check.change, check.p) == ("pass", 0.0, None)
    assert check.why == "the same on every question"
    assert check.catches is not None
    assert 0.05 < check.catches < 0.1


def test_a_small_loss_passes_and_one_that_may_be_chance_is_inconclusive() -> None:
    assert one("retrieval_recall", lowered(HALF, 0.01), HALF).outcome == "pass"
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(N) < 0.4, rng.permutation(HALF), HALF)
    noisy[np.flatnonzero(noisy)[:7]] = 0.0
    check = one("retrieval_recall", noisy.tolist(), HALF)
    assert check.outcome == "inconclusive"
    assert check.change is not None
    assert check.change <= -0.05
    assert check.p_adjusted is not None
    assert check.p_adjusted > 0.05


def test_faults_count_the_other_way_round() -> None:
    more, fewer = HALF, lowered(HALF, 0.2)
    worse, better = one("false_abstention", more, fewer), one("false_abstention", fewer, more)
    assert (worse.outcome, better.outcome) == ("fail", "pass")
    assert worse.change == pytest.approx(0.2)
    assert [worse.new, worse.old] == pytest.approx([0.5, 0.3])


def test_failed_questions_count_as_zero_so_that_nobody_passes_by_leaving_them_out() -> None:
    hard = [name for name, value in column(HALF).items() if value][:24]
    base = scored({"retrieval_recall": column(HALF)})
    failing = scored({"retrieval_recall": column(HALF)}, failed=hard)
    check = checks_of(failing, base)["retrieval_recall"]
    assert check.outcome == "fail"
    assert check.change == pytest.approx(-0.2)
    easy = [name for name, value in column(HALF).items() if not value][:12]
    lucky = checks_of(scored({"retrieval_recall": column(HALF)}, failed=easy), base)["retrieval_recall"]
    assert lucky.outcome == "inconclusive"
    assert lucky.why == "withheld: coverage 90.0% of the run is under 95%"


def test_what_failed_in_the_baseline_alone_is_no_gain_that_hides_a_loss() -> None:
    few = [name for name, value in column(HALF).items() if value][:4]
    old = scored({"retrieval_recall": column(HALF)}, failed=few)
    check = checks_of(scored({"retrieval_recall": column(HALF)}), old)["retrieval_recall"]
    assert check.change == pytest.approx(4 / N)
    assert check.at_worst is not None
    assert check.at_worst < 0.0


def test_a_verdict_that_is_missing_is_no_loss_and_no_proof() -> None:
    gone = {name: Score("faithfulness", None, NOT_JUDGED) for name in list(column(HALF))[:5]}
    ones = column([1.0] * N)
    check = checks_of(scored({"faithfulness": {**ones, **gone}}), scored({"faithfulness": ones}))["faithfulness"]
    assert (check.n, check.change, check.outcome) == (N - 5, 0.0, "inconclusive")
    most = {name: Score("faithfulness", None, NOT_JUDGED) for name in list(column(HALF))[:60]}
    check = checks_of(scored({"faithfulness": {**ones, **most}}), scored({"faithfulness": ones}))["faithfulness"]
    assert check.why.startswith("withheld: coverage 50.0% of the run")
    part = Score("faithfulness", None, PARTLY_JUDGED, Partial(0.9, 0.9, 1.0))
    check = checks_of(scored({"faithfulness": {**ones, "q0000": part}}), scored({"faithfulness": ones}))["faithfulness"]
    assert check.outcome == "pass"


def test_a_metric_the_run_lost_is_missing_unless_the_policy_lets_it() -> None:
    old = scored({"faithfulness": column([1.0] * N), "answer_em": column(HALF)})
    new = scored({"answer_em": column(HALF)})
    check = checks_of(new, old)["faithfulness"]
    assert (check.kind, check.outcome) == ("missing", "fail")
    assert checks_of(new, old, Policy(fail_on_missing=False))["faithfulness"].outcome == "inconclusive"
    silent = {name: Score("faithfulness", None, ABSTAINED) for name in column(HALF)}
    assert checks_of(scored({"faithfulness": silent}), old)["faithfulness"].outcome == "fail"
    assert "faithfulness" not in checks_of(old, new)


def test_what_only_one_of_them_has_a_score_for_is_counted() -> None:
    silent = {name: Score("faithfulness", None, ABSTAINED) for name in list(column(HALF))[:20]}
    ones = column([1.0] * N)
    check = checks_of(scored({"faithfulness": {**ones, **silent}}), scored({"faithfulness": ones}))["faithfulness"]
    assert check.n == N - 20
    assert check.why == "the same on every question; 20 questions have a score in one of the two alone"


def test_what_a_guard_calls_invalid_cannot_pass() -> None:
    broken = GuardFinding(guard="constant_metric", message="0.5 everywhere", metric="answer_f1")
    sound, invalid = scored({"answer_f1": column(HALF)}), scored({"answer_f1": column(HALF)}, guards=[broken])
    check = checks_of(invalid, sound)["answer_f1"]
    assert (check.outcome, check.why) == ("fail", "invalid in the run: 0.5 everywhere")
    assert checks_of(invalid, sound, Policy(invalid="inconclusive"))["answer_f1"].outcome == "inconclusive"
    assert checks_of(invalid, invalid)["answer_f1"].outcome == "inconclusive"


def test_another_judge_is_another_scale() -> None:
    new = scored({"faithfulness": column(lowered(HALF, 0.3))}, judges={"faithfulness": "judge_b"})
    old = scored({"faithfulness": column(HALF)}, judges={"faithfulness": "judge_a"})
    check = checks_of(new, old)["faithfulness"]
    assert check.outcome == "inconclusive"
    assert "not judged by the judge of the baseline" in check.why
    assert checks_of(replace(new, judges=old.judges), old)["faithfulness"].outcome == "fail"


def test_tokens_and_dollars_are_ratios() -> None:
    spent = column(np.linspace(500, 1500, N).tolist())
    old = scored({"answer_em": column(HALF)}, tokens=spent, usd=spent)
    dearer = {name: 1.3 * value for name, value in spent.items()}
    checks = checks_of(scored({"answer_em": column(HALF)}, tokens=dearer, usd=spent), old)
    assert (checks["tokens"].outcome, checks["usd"].outcome) == ("fail", "pass")
    assert checks["tokens"].change == pytest.approx(0.3)
    assert checks["tokens"].new == pytest.approx(1300)
    unknown = {**spent, "q0003": None}
    check = checks_of(scored({"answer_em": column(HALF)}, tokens=unknown, usd=spent), old)["tokens"]
    assert (check.outcome, check.why) == ("inconclusive", f"unknown of 1 of {N} questions of the run")


def test_what_costs_nothing_or_has_no_price_in_the_baseline_is_not_checked() -> None:
    free = scored({"answer_em": column(HALF)})
    assert checks_of(free, free).keys() == {"answer_em"}


def test_seconds_warn_and_do_not_fail() -> None:
    seconds = column(np.linspace(0.5, 1.5, N).tolist())
    old = scored({"answer_em": column(HALF)}, seconds=seconds)
    slow = scored({"answer_em": column(HALF)}, seconds={name: 2 * value for name, value in seconds.items()})
    check = checks_of(slow, old)["p95_seconds"]
    assert (check.outcome, check.warn_only) == ("fail", True)
    assert check.change == pytest.approx(1.0)
    assert not checks_of(slow, old, Policy(warn_only=()))["p95_seconds"].warn_only
    few = scored({"answer_em": column(HALF)}, seconds=dict(list(seconds.items())[:10]))
    assert checks_of(few, old)["p95_seconds"].why == "only 10 questions were measured in both"


def test_a_question_that_failed_in_one_has_no_price_to_compare() -> None:
    spent = column([100.0] * N)
    lost = scored({"answer_em": column(HALF)}, tokens={**spent, "q0000": 1.0}, failed=["q0000"])
    assert checks_of(lost, scored({"answer_em": column(HALF)}, tokens=spent))["tokens"].n == N - 1
    reasons = {score.reason for score in lost.cell.scores["q0000"]}
    assert reasons == {FAILED}
