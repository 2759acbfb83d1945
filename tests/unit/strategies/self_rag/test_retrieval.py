from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.types import Tier
from strategies.self_rag.graph import decide
from strategies.self_rag.params import SelfRagParams
from strategies.self_rag.state import Reflection

SOFT = SelfRagParams()
HARD = SelfRagParams(constraints="hard")


def reading(probabilities: Mapping[str, float], tier: Tier = "T1") -> Reflection:
    return Reflection(max(probabilities, key=lambda label: probabilities[label]), probabilities, tier)


def test_a_share_above_delta_retrieves_though_no_is_likelier() -> None:
    action, decision = decide(reading({"yes": 0.3, "no": 0.7}), SOFT, evidence=False)
    assert (action, decision.threshold) == ("yes", 0.2)
    assert decision.score == pytest.approx(0.3)


def test_a_share_of_exactly_delta_does_not() -> None:
    assert decide(reading({"yes": 0.25, "no": 0.75}), SelfRagParams(delta=0.25), evidence=False)[0] == "no"


@given(st.floats(0.001, 1.0), st.floats(0.001, 1.0), st.floats(0.001, 1.0), st.floats(0.0, 1.0))
def test_raising_yes_never_switches_retrieval_off(yes: float, more: float, no: float, delta: float) -> None:
    params = SelfRagParams(delta=delta)
    before, after = (decide(reading({"yes": p, "no": no}), params, evidence=True)[0] for p in (yes, yes + more))
    assert before != "yes" or after == "yes"


@pytest.mark.parametrize(
    ("params", "tier", "origin"),
    [
        (SelfRagParams(), "T1", "default"),
        (SelfRagParams(checkpoint=True), "T2", "paper"),
        (SelfRagParams(checkpoint=True, delta=0.0), "T2", "user"),
        (SelfRagParams(delta=0.4), "T1", "user"),
    ],
)
def test_the_papers_delta_is_the_papers_only_with_its_model(params: SelfRagParams, tier: Tier, origin: str) -> None:
    _, decision = decide(reading({"yes": 0.9, "no": 0.1}, tier), params, evidence=False)
    assert (decision.origin, decision.tier) == (origin, tier)


@pytest.mark.parametrize("label", ["yes", "no"])
def test_a_label_alone_decides_without_a_threshold(label: str) -> None:
    action, decision = decide(Reflection(label, {label: 1.0}, "T0"), SOFT, evidence=False)
    assert (action, decision.choice, decision.score, decision.threshold) == (label, label, None, None)


def test_below_delta_the_likelier_of_no_and_continue_is_taken() -> None:
    on, off = {"yes": 0.01, "no": 0.29, "continue": 0.7}, {"yes": 0.01, "no": 0.7, "continue": 0.29}
    assert decide(reading(on), SOFT, evidence=True)[0] == "continue"
    assert decide(reading(off), SOFT, evidence=True)[0] == "no"


def test_without_evidence_there_is_nothing_to_go_on_with() -> None:
    action, decision = decide(Reflection("continue", {"continue": 1.0}, "T2"), SOFT, evidence=False)
    assert (action, decision.choice) == ("no", "no")


def test_hard_constraints_look_at_the_label_alone() -> None:
    likely = Reflection("no", {"yes": 0.49, "no": 0.51}, "T1")
    assert decide(likely, SOFT, evidence=False)[0] == "yes"
    action, decision = decide(likely, HARD, evidence=False)
    assert (action, decision.threshold) == ("no", None)


def test_under_hard_constraints_a_token_that_was_not_emitted_does_not_retrieve() -> None:
    assert decide(Reflection(None, {"yes": 0.4, "no": 0.1}, "T2"), HARD, evidence=False)[0] == "no"


@pytest.mark.parametrize("params", [SOFT, HARD])
def test_an_unreadable_decision_retrieves_and_says_so(params: SelfRagParams) -> None:
    action, decision = decide(Reflection(None, {}, "T0"), params, evidence=True)
    assert (action, decision.choice) == ("yes", "unreadable")
