"""What a cell adds to knowing by heart, and how much of the way to reading the gold that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
from pydantic import Field

from arena.leaderboard.metrics import Ids, QuestionResamples
from arena.leaderboard.schema import Row
from arena.statistics.intervals import BOOTSTRAP_FLOOR, Values, difference_interval
from arena.types import GOLD_MODE, NO_RETRIEVAL_MODE, Cell

FLOOR = ("closed_book", NO_RETRIEVAL_MODE)
CEILING = ("oracle", GOLD_MODE)
"""Strategy and mode of the two controls between which the gap lies."""


class GapSummary(Row):
    """The share of the closed-book-to-oracle gap in answer F1 that a cell recovers, on the questions all three have.

    `recovered` = (cell - closed book) / (oracle - closed book); below 0 or above 1 where the cell leaves that range;
    None, with `withheld`, where the gap is not above 0 or its own 95 % interval reaches 0, or a row is missing.
    `per_thousand_tokens`: recovered / (tokens per question / 1000). Interval: paired bootstrap over questions; None for
    fewer than BOOTSTRAP_FLOOR.
    """

    recovered: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    per_thousand_tokens: float | None = None
    n: int = 0
    withheld: str | None = None


@dataclass(frozen=True, slots=True)
class ReaderCell:
    """A cell on one metric: a value per question (n,), NaN = none. `withheld`: why its mean is not shown."""

    cell: Cell
    ids: Ids
    values: Values
    tokens_per_question: float | None = None
    withheld: str | None = None

    @property
    def role(self) -> tuple[str, str]:
        """Strategy and mode."""
        return self.cell.strategy, self.cell.retrieval_mode

    def on(self, ids: Ids) -> Values:
        """Its values on these questions, all of which it has, in their order."""
        row_of = {one: row for row, one in enumerate(self.ids)}
        return self.values[[row_of[one] for one in ids]]


def gaps(readers: Sequence[ReaderCell], resamples: QuestionResamples) -> list[GapSummary | None]:
    """One per reader; None for the controls themselves, without a model or any F1, and in a run without controls.

    The controls of a cell are those with its model; where there are several, the ones with its parameters.
    """
    floors = [one for one in readers if one.role == FLOOR]
    ceilings = [one for one in readers if one.role == CEILING]
    if not floors and not ceilings:
        return [None] * len(readers)
    return [
        None
        if one.role in (FLOOR, CEILING) or one.cell.llm is None or np.isnan(one.values).all()
        else _summarise(one, control_of(one, FLOOR, floors), control_of(one, CEILING, ceilings), resamples)
        for one in readers
    ]


def _summarise(
    reader: ReaderCell, floor: ReaderCell | str, ceiling: ReaderCell | str, resamples: QuestionResamples
) -> GapSummary:
    """`floor` and `ceiling`: the controls, or why there is none."""
    reasons = [one for one in (floor, ceiling) if isinstance(one, str)]
    trio = [one for one in (reader, floor, ceiling) if isinstance(one, ReaderCell)]
    reasons += [f"{one.cell.strategy}: {one.withheld}" for one in trio if one.withheld is not None]
    return GapSummary(recovered=None, withheld="; ".join(reasons)) if reasons else _gap(trio, resamples)


def control_of(reader: ReaderCell, role: tuple[str, str], candidates: Sequence[ReaderCell]) -> ReaderCell | str:
    """The control that belongs to `reader`, or why there is none."""
    alike = [one for one in candidates if one.cell.llm == reader.cell.llm]
    if len(alike) > 1:
        alike = [one for one in alike if _agree(one.cell, reader.cell)]
    if len(alike) == 1:
        return alike[0]
    return f"{'several rows' if alike else 'no row'} of {role[0]} with this model and these parameters"


def _agree(one: Cell, other: Cell) -> bool:
    return all(one.params[name] == other.params[name] for name in one.params.keys() & other.params.keys())


def _gap(trio: Sequence[ReaderCell], resamples: QuestionResamples) -> GapSummary:
    """`trio`: the cell, its floor and its ceiling."""
    shared = set(trio[1].ids) & set(trio[2].ids)
    ids = tuple(one for one in trio[0].ids if one in shared)
    table = np.column_stack([one.on(ids) for one in trio])
    table = np.where(np.isnan(table).any(axis=1, keepdims=True), np.nan, table)
    known = table[~np.isnan(table[:, 0])]
    n = len(known)
    if n == 0:
        return GapSummary(recovered=None, withheld="no question has a score in all three rows")
    cell, floor, ceiling = (fsum(column) / n for column in known.T)
    if ceiling <= floor:
        return GapSummary(recovered=None, n=n, withheld="the oracle is not above closed book")
    recovered = (cell - floor) / (ceiling - floor)
    means = resamples.of(ids).means(table)
    widths = means[:, 2] - means[:, 1]
    gap = difference_interval(known[:, 2] - known[:, 1], widths)
    if gap is None or gap.low <= 0.0:
        return GapSummary(recovered=None, n=n, withheld="the gap between closed book and oracle may be chance")
    low = high = None
    if n >= BOOTSTRAP_FLOOR:
        # A resample in which the oracle is not above closed book has no gap of which a share could be had.
        shares = (means[:, 0] - means[:, 1])[widths > 0.0] / widths[widths > 0.0]
        low, high = (float(one) for one in np.quantile(shares, [0.025, 0.975]))
    tokens = trio[0].tokens_per_question
    return GapSummary(
        recovered=recovered,
        ci_low=low,
        ci_high=high,
        per_thousand_tokens=recovered / (tokens / 1000.0) if tokens else None,
        n=n,
    )


class ClosedBookGain(Row):
    """A metric of a cell less that of closed_book with the same model, on the questions that both have a score for.

    95 % interval: paired bootstrap, or Wilson. `difference` is None where `withheld` says why.
    """

    difference: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = Field(default=0, ge=0)
    withheld: str | None = None


def gains(readers: Mapping[str, Sequence[ReaderCell]], resamples: QuestionResamples) -> list[dict[str, ClosedBookGain]]:
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


def _gain(reader: ReaderCell, floors: Sequence[ReaderCell], resamples: QuestionResamples) -> ClosedBookGain:
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
