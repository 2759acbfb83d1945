"""Which way each question was sent, and which would have done: by its hops, and by what rows of one way got right.

Adaptive-RAG (arXiv 2403.14403), section 3.2: the right way is the cheapest that answers right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from arena.metrics.answer import exact_match
from arena.metrics.case import Case
from arena.metrics.decisions import ROUTES, Route, route_needed, route_taken
from arena.types import NO_RETRIEVAL_MODE, Cell

_ALONE: Mapping[str, Route] = {"closed_book": "A", "vanilla": "B", "ircot": "C"}
_POLICIES: Mapping[str, Route] = {"always_a": "A", "always_b": "B", "always_c": "C"}
_POLICY = "policy"


@dataclass(slots=True)
class RouteTally:
    """By question id: the way it was sent (`taken`), the way its hops ask for (`needed`), whether it came out right.

    A question that failed, or that has no short gold answer, is not in `right`.
    """

    taken: dict[str, Route] = field(default_factory=dict)
    needed: dict[str, Route] = field(default_factory=dict)
    right: dict[str, bool] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Note one question."""
        record, question_id = case.record, case.record.question_id
        if taken := route_taken(record):
            self.taken[question_id] = taken
            if case.gold.answerable and (needed := route_needed(case.question.hops)):
                self.needed[question_id] = needed
        if record.answer is not None and case.gold.answerable and case.question.kind != "summary":
            exact = exact_match(record.answer.text or "", case.gold.answers, official=case.gold.official)
            self.right[question_id] = not record.answer.abstained and bool(exact)


def fixed_route(cell: Cell) -> Route | None:
    """The way that a row sends every question, by its name or its policy; None where it decides, or is another kind."""
    return _POLICIES.get(str(cell.params.get(_POLICY))) or _ALONE.get(cell.strategy)


def oracle_routes(router: Cell, rows: Iterable[tuple[Cell, RouteTally]]) -> Mapping[str, Route]:
    """Question id -> the cheapest way whose row answers it right.

    Of the rows with the router's model, mode (a row that reads nothing has none) and parameters, as far as both have
    them. Empty unless the run has a row for every way. A question is left out that no row answers, or of which a
    cheaper row is not known.
    """
    chosen: dict[Route, Mapping[str, bool]] = {}
    for cell, tally in rows:
        route = fixed_route(cell)
        if route is not None and route not in chosen and _is_comparable(cell, router):
            chosen[route] = tally.right
    if len(chosen) < len(ROUTES):
        return {}
    asked = dict.fromkeys(question_id for right in chosen.values() for question_id in right)
    cheapest = {question_id: _cheapest([chosen[route].get(question_id) for route in ROUTES]) for question_id in asked}
    return {question_id: route for question_id, route in cheapest.items() if route is not None}


def _cheapest(outcomes: Iterable[bool | None]) -> Route | None:
    for route, right in zip(ROUTES, outcomes, strict=True):
        if right is None:
            return None
        if right:
            return route
    return None


def _is_comparable(row: Cell, router: Cell) -> bool:
    shared = (row.params.keys() & router.params.keys()) - {_POLICY}
    alike = all(row.params[name] == router.params[name] for name in shared)
    return row.llm == router.llm and row.retrieval_mode in (router.retrieval_mode, NO_RETRIEVAL_MODE) and alike
