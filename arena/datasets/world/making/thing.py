"""An entity of the world."""

from __future__ import annotations

from dataclasses import dataclass, field

from arena.datasets.world.grammar import Kind


@dataclass(eq=False, slots=True)
class Thing:
    """One entity. `facts` maps a relation's key to a thing or a number; a ghost is named but has no document."""

    kind: Kind
    name: str
    ghost: bool = False
    facts: dict[str, Thing | int] = field(default_factory=dict)
