"""Failing calls widen the bounds around the value that would have been, and never flatter it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from arena.errors import ProviderDownError
from arena.judges.judge import judge_of
from arena.judges.reading import score_of
from arena.leaderboard.metrics import COVERAGE_FLOOR, summarise_metric
from arena.llm.client import LLMClient
from arena.metrics.case import Case
from arena.types import JudgeMetric, Score, Verdict
from tests.samples import answered
from tests.unit.judges.court import case_of, verdict_on
from tests.unit.llm.asking import scripted, with_model

TEXTS = (
    "Mirelle Ostrand",
    "Mirelle Ostrand, a former glassblower, governs Tammerhold. It lies on the Sarn estuary.",
    "In 1871. The Orlen Weir rises near Tammerhold.",
    "Nobody knows. It was bridged in 1871. The moon is green.",
)
CASES = [
    case_of(answered(question, f"{text} {number}", used))
    for question in ("q1", "q2", "q3")
    for number, text in enumerate(TEXTS)
    for used in (("d1",), ("d1", "d2", "d3"))
]
FAULTS = {"server_error": 0.1, "malformed_json": 0.06, "truncated": 0.06, "empty": 0.04, "refusal": 0.04}


def scores(folder: Path, metric: JudgeMetric, script: dict[str, object]) -> list[Score]:
    async def use(model: LLMClient) -> list[Score]:
        judge = judge_of(model, {}, (metric,))
        return [score_of([await judge.verdict(case, metric)]) for case in CASES]

    return with_model(scripted(folder, script, max_attempts=1, breaker_failures=1000), use)


def mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    assert len(known) == len(values)
    return sum(known) / len(known)


@pytest.mark.parametrize("metric", ["answer_accuracy", "faithfulness", "context_precision", "context_recall"])
def test_thirty_percent_of_failing_calls_leave_the_complete_mean_within_the_bounds(
    metric: JudgeMetric, tmp_path: Path
) -> None:
    complete = mean([score.value for score in scores(tmp_path, metric, {})])
    for seed in range(8):
        found = scores(tmp_path, metric, {"faults": FAULTS, "seed": seed})
        values = np.array([score.value for score in found if score.value is not None])
        summary = summarise_metric(values, [score for score in found if score.value is None], np.empty(0))
        assert summary.lower_bound is not None
        assert summary.upper_bound is not None
        assert summary.coverage is not None
        assert summary.lower_bound - 1e-9 <= complete <= summary.upper_bound + 1e-9
        assert summary.coverage < 1
        assert summary.mean is None or summary.coverage >= COVERAGE_FLOOR
        if summary.mean is not None:
            assert summary.mean - complete <= summary.upper_bound - summary.lower_bound + 1e-9


def test_a_provider_that_is_down_ends_the_judging_although_ragas_catches_everything(tmp_path: Path) -> None:
    with pytest.raises(ProviderDownError):
        verdict_on(tmp_path, "answer_accuracy", [{"error": 500}], max_attempts=1, breaker_failures=1)


def test_a_failed_verdict_has_its_calls(tmp_path: Path) -> None:
    verdict: Verdict = verdict_on(tmp_path, "faithfulness", [{"error": 400}])
    assert [call.error is not None for call in verdict.calls] == [True]


def test_cases_differ_in_what_a_judge_makes_of_them(tmp_path: Path) -> None:
    values = {score.value for score in scores(tmp_path, "faithfulness", {})}
    assert len(values) > 2
    assert isinstance(CASES[0], Case)
