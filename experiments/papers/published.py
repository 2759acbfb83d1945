"""The published figures, each with the table that it stands in: numbers.json."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("numbers.json")
_RATIOS = {"%": 100.0, "fraction": 1.0}
"""Unit as printed -> what a printed value is divided by to be a ratio."""


@dataclass(frozen=True, slots=True)
class PublishedNumber:
    """One cell of a published table, as printed. `suspicious`: why it is doubted (None: it is not).

    `llm`: the reader as the table names it, which need not be the model's full name.
    """

    paper: str
    table: str
    dataset: str
    system: str
    llm: str
    metric: str
    value: float
    unit: str
    source: str
    suspicious: str | None = None

    @property
    def ratio(self) -> tuple[float, str]:
        """Value and unit, percentages and fractions as ratios; anything else as printed."""
        if self.unit in _RATIOS:
            return self.value / _RATIOS[self.unit], "ratio"
        return self.value, self.unit


@cache
def published_numbers() -> tuple[PublishedNumber, ...]:
    """All of them, paper by paper in the order of their tables."""
    return tuple(PublishedNumber(**row) for row in json.loads(_FILE.read_text(encoding="utf-8")))
