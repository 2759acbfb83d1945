"""How faithful a strategy is to its paper: the same data for the help and the docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["implemented", "adapted", "left out"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing the paper says, and what became of it here; `how` is the way or the reason."""

    says: str
    status: Status
    how: str


@dataclass(frozen=True, slots=True)
class FidelityCard:
    """A strategy beside its paper: the reference, where it decides, clause by clause what is implemented."""

    paper: str
    decides: tuple[str, ...]
    clauses: tuple[Clause, ...]
