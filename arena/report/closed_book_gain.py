"""What a cell adds to what its model knows by heart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum

import numpy as np
from pydantic import Field

from arena.report.gap import FLOOR, Reader, control_of
from arena.report.question_resamples import QuestionResamples
from arena.report.schema import Row
from arena.statistics.intervals import difference_interval


class ClosedBookGain(Row):
    """A metric of a cell less that of closed_book with the same model, on the questions that both have a score for.

    95 % interval: paired bootstrap, or Wilson. `difference` is None where `withheld` says why.
    """

    difference: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = Field(default=0, ge=0)
    withheld: str | None = None


def gains(readers: Mapping[str, Sequence[Reader]], resamples: QuestionResamples) -> list[dict[str, ClosedBookGain]]:
    """Per cell: metric -> its gain; nothing of cells without a model, of closed_book, and where that was not run.

    `readers`: metric -> a reader per cell, all in the same order of cells.
    """
    found: list[dict[str, ClosedBookGain]] = [{} for _ in next(iter(readers.values()), ())]
    for metric, cells in readers.items():
        floors = [one for one in cells if one.role == FLOOR]
        probed = {one.cell.llm for one in floors}
        for gain, reader in zip(found, cells, strict=True):
            if reader.role != FLOOR and reader.cell.llm in probed and not np.isnan(reader.values).all():
                gain[metric] = _gain(reader, floors, resamples)
    return found


def _gain(reader: Reader, floors: Sequence[Reader], resamples: QuestionResamples) -> ClosedBookGain:
    floor = control_of(reader, FLOOR, floors)
    if isinstance(floor, str):
        return ClosedBookGain(difference=None, withheld=floor)
    reasons = [f"{one.cell.strategy}: {one.withheld}" for one in (reader, floor) if one.withheld is not None]
    if reasons:
        return ClosedBookGain(difference=None, withheld="; ".join(reasons))
    shared = set(floor.ids)
    ids = tuple(one for one in reader.ids if one in shared)
    differences = reader.on(ids) - floor.on(ids)
    known = differences[~np.isnan(differences)]
    if not known.size:
        return ClosedBookGain(difference=None, withheld="no question has a score in both")
    interval = difference_interval(known, resamples.of(ids).means(differences[:, np.newaxis])[:, 0])
    return ClosedBookGain(
        difference=fsum(known) / known.size,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        n=known.size,
    )
