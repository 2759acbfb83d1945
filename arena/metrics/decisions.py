"""The decisions that scores understand, by the names under which strategies record them.

A strategy of one's own that records the same nodes and choices is scored alike; others are counted, not understood.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from arena.types import RunRecord

Route = Literal["A", "B", "C"]
"""Adaptive-RAG's labels: A no retrieval, B one, C several, one after another."""

ROUTES: tuple[Route, ...] = get_args(Route)

_ROUTING = "classify"
_ALLOWANCE = ("allowance", "spent")
_CAPS = frozenset({("exit", "cap"), ("stop", "depth")})
_NO_ROOM = ("collect", "full")
_APPROVING = frozenset({"correct", "relevant", "yes", "kept"})
_UNDECIDED = frozenset({"ambiguous", "unsure", "unreadable"})


def route_taken(record: RunRecord) -> Route | None:
    """The label that the question was given; None where nothing labels."""
    choices = (decision.choice for decision in record.decisions if decision.node == _ROUTING)
    label = next(choices, None)
    return next((route for route in ROUTES if route == label), None)


def route_needed(hops: int | None) -> Route | None:
    """What a question of so many hops needs: B for one, C for several; None where hops are not known.

    A is not needed by any: whether a model knows an answer by heart, hops do not say.
    """
    return None if not hops else "B" if hops == 1 else "C"


def allowance_was_spent(record: RunRecord) -> bool:
    """Whether the answer is what could be saved when the question had used up its calls or tokens."""
    return any((decision.node, decision.choice) == _ALLOWANCE for decision in record.decisions)


def was_capped(record: RunRecord) -> bool:
    """Whether a loop ended at its cap, with its text unfinished, and not by itself."""
    return any((decision.node, decision.choice) in _CAPS and decision.changed for decision in record.decisions)


def had_no_room(record: RunRecord) -> bool:
    """Whether something retrieved was left out because as many passages as allowed were there already."""
    return any((decision.node, decision.choice) == _NO_ROOM for decision in record.decisions)


def verdicts(record: RunRecord) -> Iterator[tuple[str, str, bool | None]]:
    """(node, document id, approved) for each verdict on a retrieved passage; approved None = undecided, unreadable."""
    documents = {hit.passage_id: hit.doc_id for retrieval in record.retrievals for hit in retrieval.hits}
    for decision in record.decisions:
        if decision.subject in documents:
            approved = None if decision.choice in _UNDECIDED else decision.choice in _APPROVING
            yield decision.node, documents[decision.subject], approved
