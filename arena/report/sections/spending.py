"""What answering takes, by role and by question, and what quality is to be had for it: figures with their tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.planes import Plane, PlanePoint
from arena.report.figures import RULES, Quote, Quotes, path_of
from arena.report.names import COSTS, Mark, metric_name
from arena.report.section import Entry, Figure, Grid, cell_grid

_MEASURES = (
    ("tokens", "tokens per question"),
    ("calls", "calls per question"),
    ("seconds", "seconds per question, calls added up"),
    ("usd", "US dollars per question"),
)
_ROLE = (
    "per_question calls_per_question",
    "per_question input_tokens_per_question",
    "per_question output_tokens_per_question",
    "second mean_service_seconds",
    "usd usd_per_question",
)
_COST_RULES: Mapping[str, str] = {"tokens": "per_question", "usd": "usd", "calls": "per_question", "seconds": "second"}
_BOX = {"p5": 1, "p25": 5, "p75": 15, "p95": 19}
"""Of the 21 quantiles of a latency, those that its box shows beside the median."""


_LATENCY = {
    "measured": "count latency_seconds.n_measured",
    "p5": f"second latency_quantiles_seconds.{_BOX['p5']}",
    "p25": f"second latency_quantiles_seconds.{_BOX['p25']}",
    "p50": "second latency_seconds.p50",
    "p75": f"second latency_quantiles_seconds.{_BOX['p75']}",
    "p95": f"second latency_quantiles_seconds.{_BOX['p95']}",
    "mean": "second latency_seconds.mean",
    "one at a time, p50": "second serial_latency_seconds.p50",
}


def roles(board: Leaderboard, marks: Sequence[Mark]) -> Figure | None:
    """None where no cell asked a model, or the file is older than roles."""
    asking = [mark for mark in marks if board.cells[mark.place].roles]
    if not asking:
        return None
    quotes = Quotes(board)
    rows: list[tuple[Entry, ...]] = []
    bars: list[dict[str, Any]] = []
    for mark in asking:
        for number, role in enumerate(board.cells[mark.place].roles):
            at = path_of("cells", mark.place, "roles", number)
            rows.append((mark, role.role, *quotes.row(at, *_ROLE)))
            amounts = {
                "tokens": role.tokens_per_question,
                "calls": role.calls_per_question,
                "seconds": role.mean_service_seconds,
                "usd": role.usd_per_question,
            }
            texts = {name: RULES[_COST_RULES[name]](amount) for name, amount in amounts.items()}
            bars.append({"cell": mark.place, "role": role.role, **amounts, "texts": texts})
    headings = ("cell", "role", "calls", "input tokens", "output tokens", "seconds", "USD")
    measures = tuple(one for one in _MEASURES if any(bar[one[0]] for bar in bars))
    return Figure((Grid(headings, tuple(rows), n_names=2),), {"bars": bars}, {"measures": measures})


def latency(board: Leaderboard, marks: Sequence[Mark]) -> Figure | None:
    """None where no latency was measured."""
    measured = [mark for mark in marks if board.cells[mark.place].latency_seconds.n_measured]
    if not measured:
        return None
    boxes = [{"cell": mark.place, **box} for mark in measured if (box := _box(board.cells[mark.place])) is not None]
    return Figure((cell_grid(Quotes(board), measured, _LATENCY),), {"boxes": boxes})


def _box(cell: CellSummary) -> dict[str, float | None] | None:
    """None in a file that is older than quantiles."""
    if not cell.latency_quantiles_seconds:
        return None
    return {"p50": cell.latency_seconds.p50, **{name: cell.latency_quantiles_seconds[at] for name, at in _BOX.items()}}


def planes(board: Leaderboard, marks: Sequence[Mark]) -> Figure | None:
    """None where no cell has both a quality and a cost."""
    if not board.planes:
        return None
    quotes = Quotes(board)
    qualities = dict.fromkeys(plane.quality for plane in board.planes)
    costs = dict.fromkeys(plane.cost for plane in board.planes)
    grids = tuple(_grid(number, plane, marks, quotes) for number, plane in enumerate(board.planes))
    return Figure(
        grids,
        {"planes": [_spec(plane, board, grid) for plane, grid in zip(board.planes, grids, strict=True)]},
        {
            "qualities": [(one, metric_name(one)) for one in qualities],
            "costs": [(one, COSTS[one]) for one in costs],
        },
    )


def _shown(plane: Plane) -> list[tuple[int, PlanePoint]]:
    """The cells that have both, with their places."""
    return [pair for pair in enumerate(plane.points) if pair[1].quality is not None and pair[1].cost is not None]


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
            for place, point in _shown(plane)
        ),
        key=f"{plane.quality}/{plane.cost}",
    )


def _spec(plane: Plane, board: Leaderboard, grid: Grid) -> dict[str, Any]:
    points = []
    for (place, point), row in zip(_shown(plane), grid.rows, strict=True):
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
                "texts": [one.text for one in row if isinstance(one, Quote)],
            }
        )
    return {"quality": plane.quality, "cost": plane.cost, "points": points}
