from __future__ import annotations

from typing import Any

import pytest

from arena.errors import ConfigError
from strategies.corrective.params import CorrectiveParams, Preset, Threshold
from strategies.table import find_variant


@pytest.mark.parametrize(
    ("preset", "upper", "lower"),
    [("popqa", 0.59, -0.99), ("pubhealth", 0.5, -0.91), ("arc", 0.5, -0.91), ("bio", 0.95, -0.91), (None, 0.59, -0.99)],
)
def test_the_papers_thresholds_come_with_its_own_evaluator_only(preset: Preset, upper: float, lower: float) -> None:
    found = CorrectiveParams(evaluator="t5", checkpoint="folder", preset=preset).thresholds
    assert (found.upper, found.lower) == (Threshold(upper, "paper"), Threshold(lower, "paper"))
    assert found.strips == Threshold(-0.5, "paper")


@pytest.mark.parametrize(("evaluator", "cut"), [("labels", -0.5), ("probabilities", 0.0)])
def test_a_model_that_judges_has_defaults_of_its_own(evaluator: str, cut: float) -> None:
    found = CorrectiveParams.model_validate({"evaluator": evaluator}).thresholds
    assert (found.upper.value, found.lower.value, found.strips.value) == (0.5, -0.5, cut)
    assert {found.upper.origin, found.lower.origin, found.strips.origin} == {"default"}


def test_a_threshold_that_was_given_is_the_users() -> None:
    found = CorrectiveParams(upper=0.8).thresholds
    assert (found.upper, found.lower.origin) == (Threshold(0.8, "user"), "default")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"evaluator": "cross_encoder"}, "calibrate upper, lower and strip_threshold"),
        ({"evaluator": "cross_encoder", "upper": 0.5, "lower": 0.1}, "set all three"),
        ({"evaluator": "t5"}, "set checkpoint"),
        ({"checkpoint": "folder"}, "checkpoint is for evaluator t5, not probabilities"),
        ({"preset": "bio"}, "preset is for evaluator t5"),
        ({"reranker": "x"}, "reranker is for evaluator cross_encoder"),
        ({"upper": -0.7}, "upper -0.7 is below lower -0.5"),
        ({"upper": float("nan")}, "upper"),
        ({"max_strips": 0}, "max_strips"),
        ({"external": "web"}, "external"),
    ],
)
def test_settings_that_do_not_fit_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_variant("corrective", {"corrective": params})


def test_a_setting_says_where_it_comes_from() -> None:
    assert all(field.description for field in CorrectiveParams.model_fields.values())
