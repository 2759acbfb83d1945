"""Cost against quality: the planes of leaderboard.json for the figure, and each as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.report.leaderboard import Leaderboard
from arena.report.page.grids import Grid
from arena.report.page.marks import Mark
from arena.report.page.quoted import Quote, Quotes, path_of
from arena.report.page.wording import COSTS, metric_name
from arena.report.planes import Plane

_COST_RULES: Mapping[str, str] = {"tokens": "per_question", "usd": "usd", "calls": "per_question", "seconds": "second"}


@dataclass(frozen=True, slots=True)
class PlaneView:
    """`qualities`, `costs`: (key, name) of the axes. `grids`: one per plane, its key `quality/cost`."""

    qualities: tuple[tuple[str, str], ...]
    costs: tuple[tuple[str, str], ...]
    grids: tuple[Grid, ...]
    figure: Mapping[str, Any]


def plane_view(board: Leaderboard, marks: Sequence[Mark]) -> PlaneView | None:
    """None where no cell has both a quality and a cost."""
    if not board.planes:
        return None
    quotes = Quotes(board)
    qualities = dict.fromkeys(plane.quality for plane in board.planes)
    costs = dict.fromkeys(plane.cost for plane in board.planes)
    grids = tuple(_grid(number, plane, marks, quotes) for number, plane in enumerate(board.planes))
    return PlaneView(
        tuple((one, metric_name(one)) for one in qualities),
        tuple((one, COSTS[one]) for one in costs),
        grids,
        {"planes": [_spec(plane, board, grid) for plane, grid in zip(board.planes, grids, strict=True)]},
    )


def _grid(number: int, plane: Plane, marks: Sequence[Mark], quotes: Quotes) -> Grid:
    return Grid(
        ("cell", metric_name(plane.quality), COSTS[plane.cost], "on the front", "share of resamples"),
        tuple(
            (
                marks[place],
                quotes.quote("ratio", path_of("planes", number, "points", place, "quality")),
                quotes.quote(_COST_RULES[plane.cost], path_of("planes", number, "points", place, "cost")),
                "yes" if point.on_front else "no" if point.front_share is not None else "does not compete",
                quotes.quote("share", path_of("planes", number, "points", place, "front_share")),
            )
            for place, point in enumerate(plane.points)
            if point.quality is not None and point.cost is not None
        ),
        key=f"{plane.quality}/{plane.cost}",
    )


def _spec(plane: Plane, board: Leaderboard, grid: Grid) -> dict[str, Any]:
    texts = {row[0].place: row for row in grid.rows if isinstance(row[0], Mark)}
    points = []
    for place, point in enumerate(plane.points):
        if place not in texts:
            continue
        summary = board.cells[place].metrics[plane.quality]
        points.append(
            {
                "cell": place,
                "x": point.cost,
                "y": point.quality,
                "low": summary.ci_low,
                "high": summary.ci_high,
                "front": point.on_front,
                "share": point.front_share,
                "texts": [one.text for one in texts[place] if isinstance(one, Quote)],
            }
        )
    return {"quality": plane.quality, "cost": plane.cost, "points": points}
