"""`arena sweep --dry-run`: every point, what of it another point has, and what the rest would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.store import FINISHED
from experiments.run.dry_run import DryRun, dry_run
from experiments.run.expectation import Expectation, total
from experiments.run.prepare import Prepared
from experiments.sweeping.folder import SweepFolder
from experiments.sweeping.identity import of_prepared
from experiments.sweeping.point import Point
from experiments.sweeping.preparing import PointPreparer
from experiments.sweeping.reuse import Donor, Source, find_source
from experiments.terminal.progress import Reporter

NEW, ASKED = "new", "asked"


@dataclass(frozen=True, slots=True)
class ExpectedCell:
    """A cell of a point. `source`: `asked`, or what it is made of, as in `cut from k-20`; then it costs nothing."""

    name: str
    n_questions: int
    source: str
    calls: float | None = 0.0
    tokens: float | None = 0.0
    usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class ExpectedPoint:
    """`status`: `new`, or that of its run. `judging_usd`: what judging the asked cells would cost, None = unknown."""

    point: Point
    status: str
    cells: tuple[ExpectedCell, ...]
    judging_usd: float | None = 0.0

    @property
    def usd(self) -> float | None:
        """Of all that is asked; None where any part is unknown."""
        return total([*(one.usd for one in self.cells), self.judging_usd])


def expect_points(points: Sequence[Point], folder: SweepFolder, reporter: Reporter) -> list[ExpectedPoint]:
    """Work out, point by point in the order of asking, what a sweep would take. Makes no run folder.

    A point that is finished costs nothing; one that was begun is shown as if nothing of it were done.
    """
    donors: list[Donor] = []
    expected: list[ExpectedPoint] = []
    with PointPreparer(reporter, dry=True) as preparer:
        for point in points:
            prepared = preparer.prepare(point.config)
            cells = of_prepared(prepared)
            sources = {cell.planned.cell.key: find_source(cell, donors) for cell in cells}
            donors.append(Donor(point.name, cells, frozenset(key for key, one in sources.items() if one is None)))
            expected.append(_expect(prepared, point, donors[-1], sources, folder, reporter))
    return expected


def _expect(
    prepared: Prepared,
    point: Point,
    there: Donor,
    sources: Mapping[str, Source | None],
    folder: SweepFolder,
    reporter: Reporter,
) -> ExpectedPoint:
    status = str(folder.store(point.name).manifest()["status"]) if folder.has(point.name) else NEW
    writing = any(cell.planned.cell.llm for cell in there.cells if cell.planned.cell.key in there.measured)
    costs: Mapping[str, Expectation] = {}
    judging: float | None = 0.0
    if writing and status != FINISHED:
        costs, judging = _costs(prepared, point, there.measured, folder, reporter)
    expected = []
    for cell in there.cells:
        one, source = cell.planned.cell, sources[cell.planned.cell.key]
        made = f"{source.how} from {source.point}" if source else ASKED
        name, n_questions = f"{one.strategy} {one.retrieval_mode}", len(cell.planned.question_ids)
        if found := costs.get(one.key):
            expected.append(ExpectedCell(name, n_questions, made, found.calls, _tokens(found), found.usd))
        else:
            expected.append(ExpectedCell(name, n_questions, FINISHED if status == FINISHED else made))
    return ExpectedPoint(point, status, tuple(expected), judging)


def _costs(
    prepared: Prepared, point: Point, asked: frozenset[str], folder: SweepFolder, reporter: Reporter
) -> tuple[dict[str, Expectation], float | None]:
    """Cell key -> what asking it would take; and dollars of judging the answers of those cells."""
    # What runs beside the sweep used is known; once it is begun, what its own points used.
    runs = folder.path if folder.path.exists() else folder.path.parent
    dry = dry_run(point.config.model_copy(update={"runs_dir": runs}), reporter, prepared)
    return {one.cell.key: one for one in dry.cells if one.cell.key in asked}, _judging(dry, asked)


def _judging(dry: DryRun, asked: frozenset[str]) -> float | None:
    writing = [one.cell.key for one in dry.cells if one.cell.llm is not None]
    parts = [
        one.usd for metric in dry.judging for key, one in zip(writing, metric.by_cell, strict=True) if key in asked
    ]
    return total(parts)


def _tokens(one: Expectation) -> float | None:
    return total([one.input_tokens, one.output_tokens])
