"""What the figures of a cell are symptoms of, and where to act."""

from __future__ import annotations

from arena.report.schema import Row


class Symptom(Row):
    """One row of the symptom table that applies. `figures`: metric -> the value that triggered it."""

    name: str
    reading: str
    where_to_act: str
    figures: dict[str, float]
