from __future__ import annotations

from collections.abc import Mapping

import pytest

from arena.metrics.controllers import RouteCounts, fixed_route, oracle_routes
from arena.types import Cell, Decision
from tests.samples import failed
from tests.unit.metrics.failures.chain_cases import case, record

ROUTER = Cell("adaptive", "hybrid", "fake:", {"k": 5, "policy": "classifier", "max_sentences": 8})
ROWS = {
    "A": Cell("closed_book", "none", "fake:", {"temperature": 0.0}),
    "B": Cell("vanilla", "hybrid", "fake:", {"k": 5}),
    "C": Cell("ircot", "hybrid", "fake:", {"k": 5, "max_sentences": 8}),
}


def right(**outcomes: bool) -> RouteCounts:
    return RouteCounts(right=dict(outcomes))


def rows(tallies: Mapping[str, RouteCounts]) -> list[tuple[Cell, RouteCounts]]:
    return [(ROWS[route], each) for route, each in tallies.items()]


def test_the_way_taken_stands_beside_the_way_its_hops_ask_for() -> None:
    routes = RouteCounts()
    routes.add(case(record("Mirelle Ostrand", decisions=(Decision("classify", "B"),))))
    routes.add(case(record("x", question_id="q3", decisions=(Decision("classify", "A"),))))
    routes.add(case(record("No answer", question_id="q2", abstained=True)))
    routes.add(case(record("x", question_id="q4", decisions=(Decision("classify", "C"),))))
    routes.add(case(record("x", question_id="q5", decisions=(Decision("classify", "C"),))))
    routes.add(case(failed("q1")))
    assert routes.taken == {"q1": "B", "q3": "A", "q4": "C", "q5": "C"}
    assert routes.needed == {"q1": "C", "q3": "B"}
    assert routes.right == {"q1": True, "q3": False, "q2": False}


def test_the_cheapest_row_that_is_right_is_the_oracles_way() -> None:
    a, b, c = right(q1=True, q2=False, q3=False), right(q1=True, q2=True, q3=False), right(q1=False, q2=True, q3=True)
    assert oracle_routes(ROUTER, rows({"A": a, "B": b, "C": c})) == {"q1": "A", "q2": "B", "q3": "C"}


def test_a_question_that_nobody_answers_or_a_cheaper_row_does_not_know_has_no_way() -> None:
    a, b, c = right(q1=False, q3=True), right(q1=False, q2=True), right(q1=False, q2=True, q3=True)
    assert oracle_routes(ROUTER, rows({"A": a, "B": b, "C": c})) == {"q3": "A"}


def test_every_way_needs_a_row() -> None:
    assert oracle_routes(ROUTER, rows({"A": right(q1=True), "B": right(q1=True)})) == {}


@pytest.mark.parametrize(
    "other",
    [
        Cell("vanilla", "dense", "fake:", {"k": 5}),
        Cell("vanilla", "hybrid", "fake:", {"k": 10}),
        Cell("vanilla", "hybrid", "another", {"k": 5}),
        Cell("self_rag", "hybrid", "fake:", {"k": 5}),
    ],
)
def test_a_row_under_another_setting_is_no_standard(other: Cell) -> None:
    known = [(ROWS["A"], right(q1=False)), (ROWS["C"], right(q1=True)), (other, right(q1=True))]
    assert oracle_routes(ROUTER, known) == {}
    assert oracle_routes(ROUTER, [*known, (ROWS["B"], right(q1=False))]) == {"q1": "C"}


def test_a_policy_goes_before_a_name() -> None:
    always = {policy: Cell("adaptive", "hybrid", "fake:", {"policy": policy}) for policy in ("always_a", "always_c")}
    assert (fixed_route(always["always_a"]), fixed_route(always["always_c"])) == ("A", "C")
    assert fixed_route(ROUTER) is None
    assert [fixed_route(cell) for cell in ROWS.values()] == ["A", "B", "C"]
