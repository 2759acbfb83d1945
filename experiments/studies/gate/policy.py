"""A gate's policy, read from a YAML file: margins, floors and ceilings, and what happens where nothing can be told."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from pydantic import BaseModel, Field, ValidationError, ValidationInfo, field_validator, model_validator

from arena.config import Settings
from arena.config.loading import read_yaml
from arena.errors import ConfigError, Location, hint, setting_problems
from arena.metrics import METRICS
from arena.types import Cell, JudgeMetric

Spending = Literal["tokens", "usd", "p95_seconds"]

SPENDING: tuple[Spending, ...] = get_args(Spending)
"""What is held against the baseline as a ratio; a margin of 0.1 allows 1.1 times as much."""

SCORES: tuple[str, ...] = (*METRICS, *get_args(JudgeMetric))
"""What is held against the baseline as a difference of means."""

Limits = Mapping[str, float | None]
"""Metric -> its margin, floor or ceiling; None takes away one that would else be there."""

MARGINS: Mapping[str, float] = MappingProxyType(
    {
        "retrieval_recall": 0.05,
        "evidence_availability": 0.05,
        "answer_em": 0.05,
        "answer_f1": 0.05,
        "faithfulness": 0.05,
        "correct_abstention": 0.1,
        "false_abstention": 0.05,
        "tokens": 0.1,
        "usd": 0.1,
        "p95_seconds": 0.5,
    }
)
"""The margins of a policy that names no others."""


class Bounds(Settings):
    """Limits of all cells, or of some."""

    margins: Limits = Field(
        default_factory=dict,
        description="The change for the worse that does not matter: of a score in its own unit, of spending relative.",
    )
    floors: Limits = Field(default_factory=dict, description="A mean must not be lower.")
    ceilings: Limits = Field(default_factory=dict, description="A mean, or the p95 of seconds, must not be higher.")

    @field_validator("margins")
    @classmethod
    def _margins(cls, limits: Limits) -> Limits:
        for name, limit in limits.items():
            _check_name(name, (*SCORES, *SPENDING))
            most = math.inf if name in SPENDING else 1.0
            if limit is not None and not 0.0 < limit < most:
                ends = "above 0" if name in SPENDING else "above 0 and below 1"
                raise ValueError(f"margin {limit!r} of {name} must be {ends}; null leaves the metric out")
        return limits

    @field_validator("floors", "ceilings")
    @classmethod
    def _floors_and_ceilings(cls, limits: Limits, field: ValidationInfo) -> Limits:
        is_ceiling = field.field_name == "ceilings"
        for name, limit in limits.items():
            _check_name(name, (*SCORES, *SPENDING) if is_ceiling else SCORES)
            if name not in SPENDING:
                _check_share(name, limit, is_ceiling=is_ceiling)
            elif limit is not None and not 0.0 <= limit < math.inf:
                raise ValueError(f"ceiling {limit!r} of {name} must be 0 or more")
        return limits

    def over(self, below: Bounds) -> Bounds:
        """These limits laid over those of `below`."""
        return Bounds(
            margins={**below.margins, **self.margins},
            floors={**below.floors, **self.floors},
            ceilings={**below.ceilings, **self.ceilings},
        )


class CellPair(Settings):
    """A cell of the run and the cell of the baseline that it takes the place of, each by its key."""

    run: str
    baseline: str


class Policy(Bounds):
    """All that a gate asks. Its margins lie over MARGINS.

    `level`: the chance that a run which is no worse fails all the same. `inconclusive`: what becomes of a check that
    can tell neither. `invalid`: of one whose metric a guard calls invalid, or that too many failed questions
    keep from being told, in the run and not in the baseline.
    `cells`: strategy, `STRATEGY/MODE` or cell key -> limits laid over the others, the most particular last.
    """

    level: float = Field(default=0.05, gt=0.0, lt=0.5)
    inconclusive: Literal["warn", "fail"] = "warn"
    invalid: Literal["fail", "inconclusive"] = "fail"
    fail_on_missing: bool = Field(default=True, description="A cell or metric that only the baseline has is a failure.")
    common_questions: bool = Field(default=False, description="Compare runs on other questions on those both asked.")
    warn_only: tuple[str, ...] = Field(default=("p95_seconds",), description="Metrics that never fail the gate.")
    cells: Mapping[str, Bounds] = Field(default_factory=dict)
    pairs: tuple[CellPair, ...] = Field(default=(), description="Cells to be held against each other by hand.")

    @field_validator("warn_only")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            _check_name(name, (*SCORES, *SPENDING))
        return names

    @model_validator(mode="after")
    def _once_each(self) -> Policy:
        for side in ("run", "baseline"):
            keys = [getattr(pair, side) for pair in self.pairs]
            if repeated := [key for key in keys if keys.count(key) > 1]:
                raise ValueError(f"pairs name {side} cell {repeated[0]!r} more than once")
        return self

    def bounds_of(self, cell: Cell) -> Bounds:
        """The limits of one cell."""
        own = Bounds(margins={**MARGINS, **self.margins}, floors=self.floors, ceilings=self.ceilings)
        for name in names_of(cell):
            if name in self.cells:
                own = self.cells[name].over(own)
        return own

    @property
    def missing(self) -> Literal["fail", "inconclusive"]:
        """What becomes of what the run lacks."""
        return "fail" if self.fail_on_missing else "inconclusive"

    @property
    def has_floors(self) -> bool:
        """Whether it asks anything of a run without a baseline."""
        every = (self, *self.cells.values())
        return any(limit is not None for one in every for limit in (*one.floors.values(), *one.ceilings.values()))


def names_of(cell: Cell) -> tuple[str, str, str]:
    """The names by which a policy may mean a cell, the most particular last."""
    return cell.strategy, f"{cell.strategy}/{cell.retrieval_mode}", cell.key


def _check_name(name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise ValueError(f"unknown metric {name!r}: {hint(name, known)}")


def is_fault(metric: str) -> bool:
    """Whether less of it is better."""
    return metric in METRICS and not METRICS[metric].higher_is_better


def _check_share(name: str, limit: float | None, *, is_ceiling: bool) -> None:
    if is_fault(name) and not is_ceiling:
        raise ValueError(f"{name} counts faults, and less is better: put it under ceilings")
    if is_ceiling and not is_fault(name):
        raise ValueError(f"of {name} more is better: put it under floors")
    if limit is not None and not 0.0 <= limit <= 1.0:
        raise ValueError(f"limit {limit!r} of {name} must lie in [0, 1]")


ALONE = Policy(
    floors={"hit_at_5": 0.8, "mrr": 0.6, "lexical_faithfulness": 0.7},
    ceilings={"unsupported_claim": 0.0},
    fail_on_missing=False,
)
"""What is asked of a run without a baseline where no policy file says otherwise."""


_PARTS: dict[str, type[BaseModel]] = {"cells": Bounds, "pairs": CellPair}


def read_policy(path: Path) -> Policy:
    """The policy in a file.

    Raises:
        ConfigError: it cannot be read, is not YAML, or names something unknown or out of range; the message names the
            setting, the value and the nearest known key.
    """
    content = read_yaml(path, "policy")
    try:
        return Policy.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"policy {str(path)!r}: {setting_problems(error, _known)}") from None


def _known(location: Location) -> Iterable[str]:
    return _PARTS.get(str(location[0]), Policy).model_fields if location else Policy.model_fields
