"""The score table of the paper's section 3.3 and appendix A.3, worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.self_rag.params import (
    RELEVANCE,
    SUPPORT,
    UTILITY,
    SelfRagParams,
    critique_score,
    expected,
    retrieval_share,
    sequence_probability,
)

probability = st.floats(1e-6, 1.0)


@pytest.mark.parametrize(
    ("relevance", "support", "utility", "parts", "total"),
    [
        ((0.9, 0.1), (0.6, 0.3, 0.1), (0.05, 0.05, 0.10, 0.30, 0.50), (0.9, 0.75, 0.575), 1.9375),
        ((0.95, 0.05), (0.2, 0.3, 0.5), (0.0, 0.1, 0.1, 0.3, 0.5), (0.95, 0.35, 0.6), 1.6),
    ],
)
def test_the_worked_vectors(
    relevance: tuple[float, ...],
    support: tuple[float, ...],
    utility: tuple[float, ...],
    parts: tuple[float, float, float],
    total: float,
) -> None:
    found = (
        expected(dict(zip(RELEVANCE, relevance, strict=True)), RELEVANCE),
        expected(dict(zip(SUPPORT, support, strict=True)), SUPPORT),
        expected(dict(zip(UTILITY, utility, strict=True)), UTILITY),
    )
    assert found == pytest.approx(parts)
    assert critique_score(*found, SelfRagParams()) == pytest.approx(total)


def test_the_sequence_term_is_added_to_the_critique() -> None:
    assert 1.9375 + sequence_probability(-0.2) == pytest.approx(2.75623, abs=1e-5)


@pytest.mark.parametrize(
    ("values", "label", "value"),
    [
        (RELEVANCE, "yes", 1),
        (RELEVANCE, "no", 0),
        (SUPPORT, "fully", 1),
        (SUPPORT, "partially", 0.5),
        (SUPPORT, "none", 0),
        (UTILITY, "1", -1),
        (UTILITY, "3", 0),
        (UTILITY, "4", 0.5),
    ],
)
def test_a_hard_label_has_the_labels_value(values: dict[str, float], label: str, value: float) -> None:
    assert expected({label: 1.0}, values) == value


@pytest.mark.parametrize("values", [RELEVANCE, SUPPORT, UTILITY])
def test_what_could_not_be_read_adds_nothing(values: dict[str, float]) -> None:
    assert expected({}, values) == 0.0


@given(st.fixed_dictionaries({label: st.floats(0.0, 1.0) for label in UTILITY}), st.floats(0.01, 1.0))
def test_scores_stay_in_range_and_need_no_normalised_probabilities(found: dict[str, float], mass: float) -> None:
    score = expected(found, UTILITY)
    assert -1.0 - 1e-9 <= score <= 1.0 + 1e-9
    if sum(found.values()) > 1e-6:
        assert expected({label: mass * p for label, p in found.items()}, UTILITY) == pytest.approx(score, abs=1e-6)


def test_the_share_is_of_probabilities_and_not_of_their_logarithms() -> None:
    assert retrieval_share({"yes": 0.9, "no": 0.1}) == pytest.approx(0.9)
    assert retrieval_share({"yes": 0.1, "no": 0.9}) == pytest.approx(0.1)
    assert retrieval_share({"yes": 0.2, "no": 0.2, "continue": 0.6}) == pytest.approx(0.5)
    assert retrieval_share({"continue": 1.0}) is None


@given(probability, probability, probability)
def test_raising_yes_never_lowers_the_share(yes: float, more: float, no: float) -> None:
    before, after = retrieval_share({"yes": yes, "no": no}), retrieval_share({"yes": yes + more, "no": no})
    assert before is not None
    assert after is not None
    assert after >= before


@given(st.floats(-50.0, 0.0))
def test_the_sequence_term_is_a_probability(mean_logprob: float) -> None:
    assert 0.0 < sequence_probability(mean_logprob) <= 1.0
    assert sequence_probability(mean_logprob) == math.exp(mean_logprob)
