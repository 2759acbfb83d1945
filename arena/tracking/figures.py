"""The figures of a leaderboard under MLflow names. Unknown ones are left out, not logged as 0.

`answer_f1` is a mean; what belongs to it stands in groups, which MLflow's pages show as sections: `ci_low/answer_f1`,
`coverage/answer_f1`. A breakdown has means only: `by_hops/2/answer_f1`. A metric that a guard calls invalid is
`invalid/answer_f1`, so that no chart compares it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from arena.leaderboard.build import CellSummary, Leaderboard
from arena.leaderboard.controllers import ControllerSummary
from arena.leaderboard.diagnosis import FailureSummary
from arena.tracking.names import mlflow_name

Figure = tuple[str, float]

_IN_GROUPS = ("ci_low", "ci_high", "n", "coverage", "lower_bound", "upper_bound")
_OWN_NAMES = {"params", "metrics", "breakdown", "failures", "diagnosis", "ranks", "guards", "controllers"}


def cell_figures(cell: CellSummary) -> dict[str, float]:
    """Every known figure of one row of the leaderboard."""
    return _named(_of_cell(cell))


def run_figures(board: Leaderboard) -> dict[str, float]:
    """What the leaderboard says of the run as a whole."""
    return _named(_of_run(board))


def _of_run(board: Leaderboard) -> Iterator[Figure]:
    yield "n_cells", len(board.cells)
    for count in ("n_questions", "n_answered", "n_abstained", "n_failed"):
        yield count, sum(getattr(cell, count) for cell in board.cells)
    yield from _numbers(board.detectable, "detectable/")
    for card in board.judges:
        yield from _numbers(card.model_dump(exclude={"agreements"}), f"judges/{card.judge}/{card.metric}/")
        for agreement in card.agreements:
            place = f"judges/{card.judge}/{card.metric}/{agreement.other}/"
            yield from _numbers(agreement.model_dump(exclude={"other"}), place)


def _of_cell(cell: CellSummary) -> Iterator[Figure]:
    yield from _numbers(cell.model_dump(exclude=_OWN_NAMES))
    yield "n_guards", len(cell.guards)
    yield from _of_metrics(cell)
    for group, values in cell.breakdown.items():
        for value, metrics in values.items():
            valid = {name: one.mean for name, one in metrics.items() if cell.invalid(name) is None}
            yield from ((f"by_{group}/{value}/{name}", mean) for name, mean in valid.items() if mean is not None)
    for name, ranks in cell.ranks.items():
        yield from ((f"rank_{end}/{name}", place) for end, place in (("best", ranks.best), ("worst", ranks.worst)))
        yield f"in_top_group/{name}", ranks.in_top_group
    if cell.failures is not None:
        yield from _of_failures(cell.failures)
    for controller in cell.controllers:
        yield from _of_controller(controller)


def _of_metrics(cell: CellSummary) -> Iterator[Figure]:
    for metric, summary in cell.metrics.items():
        name = metric if cell.invalid(metric) is None else f"invalid/{metric}"
        if summary.mean is not None:
            yield name, summary.mean
        for part in _IN_GROUPS:
            value = getattr(summary, part)
            if value is not None:
                yield f"{part}/{name}", value


def _of_failures(failures: FailureSummary) -> Iterator[Figure]:
    yield from ((f"failures/{count.failure}", count.n) for count in failures.counts)
    yield from ((f"broken_hops/{hop}", questions) for hop, questions in failures.broken_hops.items())


def _of_controller(controller: ControllerSummary) -> Iterator[Figure]:
    for branch in controller.branches:
        place = f"controllers/{controller.node}/{branch.choice}"
        yield f"{place}/n_times", branch.n_times
        yield f"{place}/n_effective", branch.n_effective


def _numbers(fields: Mapping[str, Any], place: str = "") -> Iterator[Figure]:
    """The numbers among `fields`, at any depth; a group's name and a slash stand before what is in it."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{place}{name}/")
        elif isinstance(value, int | float):
            yield f"{place}{name}", value


def _named(figures: Iterator[Figure]) -> dict[str, float]:
    return {mlflow_name(name): float(value) for name, value in figures}
