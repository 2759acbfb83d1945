"""What quality is to be had at what cost, and how sure it is that nothing beats a cell at both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from arena.leaderboard.cells import CellSummary
from arena.leaderboard.metrics import QuestionResamples, ScoreColumns
from arena.leaderboard.schema import Row
from arena.metrics import is_undefined
from arena.scoring import CellScores, Usage
from arena.statistics.intervals import Values
from arena.types import GOLD_MODE, sum_known


def pareto_front(points: Sequence[tuple[float | None, float | None]]) -> list[bool]:
    """For each (value, price): is there no other with at least that value at no higher price, one strictly better?

    A point with an unknown value or price is not on the front and beats nobody. Equal points are both on it.
    """
    known = [(value, price) for value, price in points if value is not None and price is not None]
    return [
        value is not None
        and price is not None
        and not any(v >= value and p <= price and (v > value or p < price) for v, p in known)
        for value, price in points
    ]


Cost = Literal["usd", "tokens", "calls", "seconds"]

QUALITIES = ("answer_f1", "answer_accuracy", "answer_em", "retrieval_recall", "faithfulness", "lexical_faithfulness")
COSTS: tuple[Cost, ...] = ("tokens", "usd", "calls", "seconds")

_BLOCK = 200
"""Resamples compared at once: with a hundred cells, two million comparisons."""


class PlanePoint(Row):
    """One cell in one plane. `quality`, `cost`: None where unknown, undefined, withheld or invalid.

    A point that lacks either, and that of an oracle, which nobody can buy, does not compete: it is not on the front,
    and `front_share` is None.
    """

    cell: str = Field(description="Key of a cell.")
    quality: float | None
    cost: float | None
    on_front: bool
    front_share: float | None = Field(default=None, ge=0, le=1)


class Plane(Row):
    """A quality against a cost, cells in the order of the leaderboard.

    Quality is the mean of a metric with what is missing counted as 0, so that failing pays nobody. Cost is per
    question: US dollars, input and output tokens, calls of a model, or mean seconds of the measured questions.
    `on_front`: no other cell has at least this quality for at most this cost and is strictly better in one of them;
    `front_share`: of the bootstrap resamples of questions, the share in which that holds, both axes resampled together.
    """

    quality: str
    cost: Cost
    points: list[PlanePoint]


@dataclass(frozen=True, slots=True)
class PlaneCell:
    """A cell with its scores."""

    row: CellSummary
    cell: CellScores
    columns: ScoreColumns

    def quality(self, metric: str) -> float | None:
        """The mean of a metric, what is missing counted as 0; None where it is withheld or invalid."""
        return None if self.row.withheld(metric) else self.row.metrics[metric].lower_bound

    def cost(self, name: Cost) -> float | None:
        """Per question."""
        row = self.row
        if name == "tokens":
            return row.tokens
        if name == "calls":
            return row.llm_calls_per_question
        return row.cost_usd_per_question if name == "usd" else row.latency_seconds.mean


def planes_of(players: Sequence[PlaneCell], resamples: QuestionResamples) -> list[Plane]:
    """Every pair of a quality and a cost that at least one cell has both of."""
    qualities = {name: [_lower_values(one.columns, name) for one in players] for name in QUALITIES}
    costs = dict(zip(COSTS, zip(*map(_costs, players), strict=True), strict=True)) if players else {}
    drawn = _resampled(players, qualities | costs, resamples)
    return [
        _plane(players, quality, cost, drawn)
        for quality, cost in product(QUALITIES, COSTS)
        if any(_competes(player, quality, cost) for player in players)
    ]


def _resampled(
    players: Sequence[PlaneCell], axes: Mapping[str, Sequence[Values]], resamples: QuestionResamples
) -> dict[str, Values]:
    """Axis -> resampled means (B, players); all on the same draws of the questions that any cell was asked."""
    ids = tuple(sorted({one for player in players for one in player.columns.ids}))
    place = {one: row for row, one in enumerate(ids)}
    rows = [[place[one] for one in player.columns.ids] for player in players]
    table = np.full((len(ids), len(axes) * len(players)), np.nan)
    for column, (number, values) in enumerate(pair for axis in axes.values() for pair in enumerate(axis)):
        table[rows[number], column] = values
    means = resamples.of(ids).means(table) if ids else table
    return {axis: means[:, at * len(players) : (at + 1) * len(players)] for at, axis in enumerate(axes)}


def _plane(players: Sequence[PlaneCell], quality: str, cost: Cost, drawn: Mapping[str, Values]) -> Plane:
    competing = [_competes(player, quality, cost) for player in players]
    points = [(player.quality(quality), player.cost(cost)) for player in players]
    front = pareto_front([point if plays else (None, None) for point, plays in zip(points, competing, strict=True)])
    shares = iter(_front_shares(drawn[quality][:, competing], drawn[cost][:, competing]))
    return Plane(
        quality=quality,
        cost=cost,
        points=[
            PlanePoint(
                cell=player.row.cell,
                quality=point[0],
                cost=point[1],
                on_front=on_front,
                front_share=next(shares) if plays else None,
            )
            for player, point, plays, on_front in zip(players, points, competing, front, strict=True)
        ],
    )


def _competes(player: PlaneCell, quality: str, cost: Cost) -> bool:
    known = player.quality(quality) is not None and player.cost(cost) is not None
    return known and player.row.retrieval_mode != GOLD_MODE


def _front_shares(qualities: Values, costs: Values) -> Iterator[float]:
    """For each column of `qualities` and `costs` (B, m), the share of rows in which it is on the front."""
    on_front = np.zeros(qualities.shape[1], dtype=np.int64)
    for start in range(0, len(qualities), _BLOCK):
        on_front += _on_front(qualities[start : start + _BLOCK], costs[start : start + _BLOCK]).sum(axis=0)
    yield from (on_front / len(qualities)).tolist()


def _on_front(qualities: Values, costs: Values) -> NDArray[np.bool_]:
    """(B, m): whether nobody in the row is as good for as little, and better in one of them."""
    better = qualities[:, None, :] >= qualities[:, :, None]
    cheaper = costs[:, None, :] <= costs[:, :, None]
    differs = (qualities[:, None, :] > qualities[:, :, None]) | (costs[:, None, :] < costs[:, :, None])
    beaten: NDArray[np.bool_] = np.logical_or.reduce(better & cheaper & differs, axis=2)
    return ~beaten


def _lower_values(columns: ScoreColumns, metric: str) -> Values:
    """(n,) scores of a metric, a missing one at the least that it can be; NaN where it is not defined."""
    values = columns.values(metric).copy()
    for row, score in enumerate(columns.scores.get(metric, ())):
        if score is not None and score.value is None and not is_undefined(score.reason):
            values[row] = score.partial.low if score.partial else 0.0
    return values


def _costs(player: PlaneCell) -> list[Values]:
    """For each of COSTS, that of each question (n,); NaN where it is unknown or, of seconds, not measured."""
    table = [_costs_of(player.cell.usage[one]) for one in player.columns.ids]
    return list(np.array(table, dtype=np.float64).reshape(len(table), len(COSTS)).T)


def _costs_of(usage: Usage) -> tuple[float, ...]:
    """In the order of COSTS."""
    spent = usage.account.whole
    costs: Mapping[Cost, float | None] = {
        "tokens": sum_known((spent.input_tokens.value, spent.output_tokens.value)),
        "usd": spent.usd.value,
        "calls": usage.calls,
        "seconds": usage.latency_seconds if usage.measured else None,
    }
    return tuple(np.nan if (cost := costs[name]) is None else cost for name in COSTS)
