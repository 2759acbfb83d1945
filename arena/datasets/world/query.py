"""A question's meaning: a small expression over the graph, and MuSiQue's name for its shape.

    2hop   Step(Step(Leaf))                        4hop1  Step(Step(Step(Step(Leaf))))
    3hop1  Step(Step(Step(Leaf)))                  4hop2  Step(Step(Meet(Step(Leaf), Step(Leaf))))
    3hop2  Step(Meet(Step(Leaf), Step(Leaf)))      4hop3  Step(Meet(Step(Step(Leaf)), Step(Leaf)))

So in 3hop2 two independent facts feed a third; in 4hop2 that third feeds a fourth; in 4hop3 a chain of two and
one independent fact feed the fourth. A `Meet` and the `Step` above it are read off one document: one hop.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Leaf:
    """A thing the question names."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """The value of a relation (`KIND.RELATION`) of something."""

    relation: str
    of: Query


@dataclass(frozen=True, slots=True)
class Meet:
    """The one thing for which two relations have the given values."""

    first: Step
    second: Step


Query = Leaf | Step | Meet

SHAPES: dict[str, tuple[int, ...]] = {
    "2hop": (2,),
    "3hop1": (3,),
    "3hop2": (1, 1, 1),
    "4hop1": (4,),
    "4hop2": (1, 1, 2),
    "4hop3": (2, 1, 1),
}
"""Steps of the chain, or of the first arm, the second arm and the stem above their meeting."""


def profile(query: Query) -> tuple[int, ...]:
    """The value by which `SHAPES` knows a query; `(1,)` for a single fact."""
    stem = 0
    while isinstance(query, Step):
        stem, query = stem + 1, query.of
    if isinstance(query, Leaf):
        return (stem,)
    return (*profile(query.first.of), *profile(query.second.of), stem)


def signature(query: Query) -> tuple[object, ...]:
    """The relations of a query without its names: equal for twins."""
    if isinstance(query, Leaf):
        return ()
    if isinstance(query, Step):
        return (query.relation, signature(query.of))
    return ("meet", signature(query.first), signature(query.second))


def names_in(query: Query) -> tuple[str, ...]:
    """The names a question about the query contains, from left to right."""
    if isinstance(query, Leaf):
        return (query.name,)
    if isinstance(query, Step):
        return names_in(query.of)
    return (*names_in(query.first), *names_in(query.second))
