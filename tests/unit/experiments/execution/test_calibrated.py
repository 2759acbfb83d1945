from __future__ import annotations

from typing import Any

import pytest

from arena.errors import ConfigError
from arena.types import Cell
from experiments.execution.extras import check_calibrated, judge_of
from strategies import find_variant


@pytest.mark.parametrize(
    ("strategy", "params", "judge"),
    [
        ("adaptive", {"policy": "router", "router_sha": "0123"}, "router 0123"),
        ("corrective", {"evaluator": "labels"}, "labels of openai:x"),
        (
            "corrective",
            {"evaluator": "cross_encoder", "evaluator_model": "bge-reranker-v2-m3"},
            "scores of bge-reranker-v2-m3",
        ),
        ("self_rag", {"retrieval": "adaptive", "judge": "labels"}, "labels of openai:x"),
        ("self_rag", {"retrieval": "adaptive", "judge": "labels", "checkpoint": True}, "reflection tokens of openai:x"),
        ("self_rag", {"retrieval": "always"}, None),
        ("adaptive", {"policy": "classifier", "judge": "probabilities"}, "probabilities of openai:x"),
        ("adaptive", {"policy": "always_a"}, None),
        ("vanilla", {}, None),
    ],
)
def test_it_names_the_scale(strategy: str, params: dict[str, Any], judge: str | None) -> None:
    assert judge_of(Cell(strategy, "dense", "openai:x", params)) == judge


def calibrated(model: str, **params: Any) -> Cell:
    variant = find_variant("self_rag", {"self_rag": {"delta": 0.4, "calibrated": ["delta"], **params}})
    return Cell("self_rag", "dense", model, variant.settings)


def test_thresholds_of_another_model_are_refused() -> None:
    check_calibrated(calibrated("fake:", calibrated_for="probabilities of fake:"))
    with pytest.raises(
        ConfigError,
        match="delta was calibrated on 'probabilities of fake:' and says nothing about 'probabilities of openai:x'",
    ):
        check_calibrated(calibrated("openai:x", calibrated_for="probabilities of fake:"))


def test_a_row_that_nobody_judges_needs_no_calibration() -> None:
    check_calibrated(calibrated("openai:x", calibrated_for="probabilities of fake:", retrieval="never"))


def test_what_is_not_calibrated_holds_for_anyone() -> None:
    check_calibrated(Cell("self_rag", "dense", "openai:x", find_variant("self_rag:delta=0.4").settings))
