from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.config.settings import CalibratedThreshold, RerankConfig
from arena.errors import ConfigError
from arena.types import Passage
from indexing.rerank.cross_encoders import CrossEncoder, sigmoid, steady
from indexing.rerank.opening import resolve_threshold

BGE = "bge-reranker-v2-m3"


class Known:
    """A reranker of which only name and threshold matter."""

    def __init__(self, model: str, default_threshold: float | None) -> None:
        self.identity: Mapping[str, str | int] = {"model": model}
        self.default_threshold = default_threshold

    def score(self, queries: Sequence[str], candidates: Sequence[Sequence[Passage]]) -> list[list[float]]:
        return [[0.0 for _ in passages] for passages in candidates]


def test_the_default_is_the_rerankers_own() -> None:
    assert resolve_threshold(RerankConfig(), Known(BGE, 0.15)) == 0.15
    assert resolve_threshold(RerankConfig(), Known("late_interaction/minilm", None)) is None


def test_a_number_insists() -> None:
    for reranker in (Known(BGE, 0.15), Known("late_interaction/minilm", None)):
        assert resolve_threshold(RerankConfig(threshold=0.4), reranker) == 0.4
        assert resolve_threshold(RerankConfig(threshold=0), reranker) == 0


def test_a_calibrated_threshold_stays_with_its_reranker() -> None:
    settings = RerankConfig(threshold=CalibratedThreshold(value=0.2, reranker=BGE))
    assert resolve_threshold(settings, Known(BGE, 0.15)) == 0.2
    with pytest.raises(ConfigError) as refused:
        resolve_threshold(settings, Known("late_interaction/minilm", None))
    for named in ("0.2", repr(BGE), "'late_interaction/minilm'"):
        assert named in str(refused.value)


@given(st.floats(-700, 700), st.floats(-700, 700))
def test_the_sigmoid_keeps_order_and_range(one: float, other: float) -> None:
    assert 0 <= sigmoid(one) <= 1
    assert sigmoid(one) + sigmoid(-one) == pytest.approx(1)
    if one < other:
        assert sigmoid(one) <= sigmoid(other)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_steady_score_is_near_and_in_order(one: float, other: float) -> None:
    assert steady(one) == pytest.approx(one, rel=1e-5)
    assert steady(steady(one)) == steady(one)
    if one <= other:
        assert steady(one) <= steady(other)


def test_noise_of_a_batch_does_not_rank() -> None:
    assert steady(0.73105857) == steady(0.73105861)
    assert steady(1.6701e-5) != steady(1.6702e-5)  # the unlikely are told apart as finely as the likely


class Counting(CrossEncoder):
    """Scores the pairs 1, 2, 3, ..."""

    def __init__(self) -> None:
        """Opens nothing."""

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [float(place) for place, _ in enumerate(pairs, start=1)]


def test_scores_go_back_to_their_queries() -> None:
    passage = Passage("p", "p", "", "", 0, 0)
    assert Counting().score(["a", "b", "c"], [[passage], [], [passage, passage]]) == [[1], [], [2, 3]]
