from __future__ import annotations

from collections.abc import Mapping

import pytest

from experiments.studies.router.data import Taken
from experiments.studies.router.measure import BIASES, HeldOut, PolicyRow, Routed, RouterEvaluation, evaluate
from strategies.adaptive import Label

STEPS: Mapping[Label, int] = {"A": 0, "B": 1, "C": 4}


def routed(name: str, truth: Label, shares: tuple[float, float, float], right: str, **rest: Label) -> Routed:
    ways: dict[Label, Taken] = {label: Taken(label in right, steps) for label, steps in STEPS.items()}
    return Routed(name, truth, dict(zip("ABC", shares, strict=True)), ways, rest.get("prompted"))


FOUR = (
    routed("q1", "A", (0.7, 0.2, 0.1), "ABC", prompted="A"),
    routed("q2", "B", (0.1, 0.5, 0.4), "BC", prompted="C"),
    routed("q3", "C", (0.0, 0.6, 0.4), "C"),
    routed("q4", "C", (0.1, 0.2, 0.7), "C", prompted="C"),
)


def found(bias: float = 0.0, questions: tuple[Routed, ...] = FOUR) -> RouterEvaluation:
    return evaluate(HeldOut("by hand", questions), bias, 0)


def row(policy: str, of: RouterEvaluation | None = None) -> PolicyRow:
    return next(one for one in (of or found()).policies if one.policy == policy)


def test_the_router_is_measured_against_labels_answers_and_steps() -> None:
    one = row("router")
    assert one.agreement is not None
    assert one.right is not None
    assert one.against_c is not None
    assert (one.agreement.mean, one.right.mean, one.steps) == (0.75, 0.75, (0 + 1 + 1 + 4) / 4)
    assert one.agreement.low < 0.75 < one.agreement.high
    assert one.shares == {"A": 0.25, "B": 0.5, "C": 0.25}
    assert one.against_c.mean == -0.25
    assert one.steps_against_c == pytest.approx(6 / 16 - 1)
    assert found().accuracy == one.agreement


def test_the_confusion_matrix_counts_and_is_normalised_by_row() -> None:
    assert found().confusion == {
        "A": {"A": 1, "B": 0, "C": 0},
        "B": {"A": 0, "B": 1, "C": 0},
        "C": {"A": 0, "B": 1, "C": 1},
    }
    assert found().row_normalised["C"] == {"A": 0.0, "B": 0.5, "C": 0.5}
    none = found(questions=FOUR[1:])
    assert none.row_normalised["A"] == {"A": None, "B": None, "C": None}


def test_every_other_way_of_routing_stands_beside_it() -> None:
    assert [one.policy for one in found().policies] == [
        "router",
        "prompted",
        "oracle",
        "always_a",
        "always_b",
        "always_c",
    ]
    oracle, always_c, prompted = row("oracle"), row("always_c"), row("prompted")
    assert oracle.right is not None
    assert always_c.against_c is not None
    assert prompted.agreement is not None
    assert (oracle.right.mean, oracle.steps) == (1.0, 9 / 4)
    assert (always_c.against_c.mean, always_c.steps_against_c) == (0.0, 0.0)
    assert prompted.n == 3
    assert prompted.agreement.mean == pytest.approx(2 / 3)


def test_without_prompted_routing_there_is_no_row_of_it() -> None:
    assert "prompted" not in {one.policy for one in found(questions=FOUR[2:3]).policies}


def test_more_bias_costs_fewer_steps() -> None:
    table = found().biases
    assert [one.bias for one in table] == list(BIASES)
    steps = [one.steps for one in table if one.steps is not None]
    assert steps == sorted(steps, reverse=True)
    assert row("router", found(bias=2.0)).steps == table[BIASES.index(2.0)].steps


def test_no_questions_have_no_figures() -> None:
    empty = found(questions=())
    assert (empty.accuracy, empty.n) == (None, 0)
    assert row("router", empty).steps is row("router", empty).steps_against_c is None
