from __future__ import annotations

from typing import Any

import pytest

from arena.errors import ConfigError
from strategies import find_variant
from strategies.adaptive.params import AdaptiveParams
from strategies.corrective.params import CorrectiveParams, Threshold
from strategies.self_rag.params import SelfRagParams

FOR = {"calibrated_for": "probabilities of fake:"}


def test_a_calibrated_threshold_says_so_and_those_beside_it_do_not() -> None:
    found = CorrectiveParams.model_validate(
        {"upper": 0.6, "strip_threshold": 0.1, "calibrated": ["upper"], **FOR}
    ).thresholds
    assert (found.upper, found.strips) == (Threshold(0.6, "calibrated"), Threshold(0.1, "user"))
    assert found.lower.origin == "default"


def test_a_calibrated_delta_may_be_the_papers() -> None:
    assert SelfRagParams.model_validate({"delta": 0.2, "calibrated": ["delta"], **FOR}).delta_origin == "calibrated"
    assert SelfRagParams(delta=0.2).delta_origin == "default"


def test_a_calibrated_bias_is_no_whim() -> None:
    found = AdaptiveParams.model_validate({"cost_bias": 0.4, "calibrated": ["cost_bias"], **FOR})
    assert (found.bias_origin, AdaptiveParams(cost_bias=0.4).bias_origin) == ("calibrated", "user")
    assert AdaptiveParams().bias_origin is None


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"upper": 0.6, "calibrated": ["upper"]}, "belong together"),
        ({"upper": 0.6, **FOR}, "belong together"),
        ({"upper": 0.6, "calibrated": ["lower"], **FOR}, "'lower', which is not set"),
        ({"upper": None, "calibrated": ["upper"], **FOR}, "'upper', which is not set"),
        ({"calibrated": ["max_strips"], **FOR}, "what can be is upper, lower, strip_threshold"),
        ({"calibrated": [], **FOR}, "calibrated"),
    ],
)
def test_what_was_not_calibrated_cannot_claim_it(params: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        find_variant("corrective", {"corrective": params})


@pytest.mark.parametrize("name", ["corrective", "self_rag", "adaptive"])
def test_a_cell_is_what_it_was_where_nothing_is_calibrated(name: str) -> None:
    assert not {"calibrated", "calibrated_for", "calibratable"} & find_variant(name).settings.keys()
