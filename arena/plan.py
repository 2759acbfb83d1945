"""What a run is to ask: its cells and their questions, in input order; plan.json of a run folder.

    {"shard": null, "cells": [{"cell": {...}, "sample": "s1", "tier": "T1"}, ...], "samples": {"s1": ["q1", "q2"]}}

Cells with the same questions share a sample. Of a run that several processes share, every folder holds the whole plan
and the number of its share.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from arena.errors import RunStoreError
from arena.files import parse_json
from arena.types import Cell, Tier, grouped

_CELL = TypeAdapter(Cell)

Key = tuple[str, str]
"""(cell key, question id): what makes a record one of its kind."""


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell, the ids of its questions, and the highest tier that its strategy can run at."""

    cell: Cell
    question_ids: tuple[str, ...]
    tier: Tier | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """The share of a run's questions that one of several processes asks: number `index` of `of`, counted from 1."""

    index: int
    of: int

    def holds(self, question_id: str) -> bool:
        """Whether the question is in this share; all cells of a question are in one."""
        digest = hashlib.sha256(question_id.encode()).digest()
        return int.from_bytes(digest[:8]) % self.of == self.index - 1

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The cells of a run, in input order. `shard`: the share of it that its folder is for (None: all of it)."""

    cells: tuple[PlannedCell, ...]
    shard: Shard | None = None

    def share(self) -> RunPlan:
        """What of it is in its shard; a cell without a question there is left out."""
        shard = self.shard
        if shard is None:
            return self
        shared = (
            replace(planned, question_ids=tuple(name for name in planned.question_ids if shard.holds(name)))
            for planned in self.cells
        )
        return replace(self, cells=tuple(planned for planned in shared if planned.question_ids))

    def keys(self) -> list[Key]:
        """The keys of all records of a complete run: question by question through all cells."""
        cells = [(planned.cell.key, planned.question_ids) for planned in self.cells]
        by_question = grouped((question_id, (key, question_id)) for key, ids in cells for question_id in ids)
        return [key for keys in by_question.values() for key in keys]

    @property
    def tiers(self) -> Mapping[str, Tier | None]:
        """Strategy -> the highest tier that it can run at."""
        return {planned.cell.strategy: planned.tier for planned in self.cells}

    def to_json(self) -> dict[str, Any]:
        """As plan.json holds it."""
        names: dict[tuple[str, ...], str] = {}
        for planned in self.cells:
            names.setdefault(planned.question_ids, f"s{len(names) + 1}")
        return {
            "shard": {"index": self.shard.index, "of": self.shard.of} if self.shard else None,
            "cells": [
                {
                    "cell": _CELL.dump_python(planned.cell, mode="json"),
                    "sample": names[planned.question_ids],
                    "tier": planned.tier,
                }
                for planned in self.cells
            ],
            "samples": {name: list(ids) for ids, name in names.items()},
        }


def read_plan(text: str, where: str) -> RunPlan:
    """The plan in the text of plan.json. Raises `RunStoreError`, naming `where`, if it is none."""
    try:
        content = parse_json(text)
        samples = {name: tuple(map(str, ids)) for name, ids in content["samples"].items()}
        shard = Shard(**content["shard"]) if content.get("shard") else None
        return RunPlan(tuple(_planned(row, samples) for row in content["cells"]), shard)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        raise RunStoreError(f"{where} is damaged ({type(error).__name__}: {error}); restore a copy") from error


def _planned(row: Mapping[str, Any], samples: Mapping[str, tuple[str, ...]]) -> PlannedCell:
    return PlannedCell(_CELL.validate_python(row["cell"]), samples[row["sample"]], row.get("tier"))


def is_extension(old: RunPlan, new: RunPlan) -> Sequence[str]:
    """What of `old` is not in `new`, one line each; empty = `new` only adds to it."""
    asked = {planned.cell.key: set(planned.question_ids) for planned in new.cells}
    lost = []
    for planned in old.cells:
        key = planned.cell.key
        if key not in asked:
            lost.append(f"cell {key} was run and is not in the new settings")
        elif missing := set(planned.question_ids) - asked[key]:
            lost.append(f"{len(missing)} questions of {key} were planned and are not in the new sample")
    return lost
