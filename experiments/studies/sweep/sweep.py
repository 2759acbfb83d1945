"""`arena sweep CONFIG`: one run a point, what they share asked once, the curves through them, and a copy in MLflow."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from arena.config import tracking_uri
from arena.datasets import load_dataset
from arena.errors import RunInterrupted
from arena.leaderboard.metrics import QuestionResamples
from arena.store import FINISHED, RUNNING
from arena.tracking import check_store
from arena.tracking.runs import warning_codes
from arena.tracking.track import SweptCell, SweptCells, track_sweep
from experiments.execution.start import copy_to_mlflow
from experiments.studies.folder import PICTURE, TABLE, SweepFolder
from experiments.studies.sweep.config import (
    PointPreparer,
    SweepPoint,
    SweptConfig,
    find_points,
    folder_of,
    load_sweep,
    sweep_fingerprint,
)
from experiments.studies.sweep.curves import (
    Curve,
    SweepRow,
    csv_text,
    curves_of,
    question_values,
    rows_of,
    versions_text,
)
from experiments.studies.sweep.output import Sweep, summary_of
from experiments.studies.sweep.picture import curves_svg
from experiments.studies.sweep.run import expect_points, run_point
from experiments.terminal.progress import Reporter


def run_sweep(config: Path, reporter: Reporter, *, dry_run: bool) -> Sweep:
    """Run every point of a sweep, or go on with one that was stopped; a finished one is only derived anew.

    `config`: a run's settings with a `sweep` section. `dry_run`: list the points and what they would cost; ask no model
    and make no folder.

    Raises:
        RunInterrupted: it was stopped; the same command goes on.
        UserError: a point is none, a name is unknown, the folder holds something else; nothing was asked.
    """
    swept = load_sweep(config)
    folder = folder_of(swept)
    folder.check()
    points = find_points(swept, folder.path)
    for skipped in points.skipped:
        reporter.warn(f"left out: {skipped}")
    bounds = points.points[0].config.budget
    if bounds.max_usd is not None or bounds.max_tokens is not None:
        reporter.say("the budget bounds each point, not the sweep as a whole")
    order = asking_order(points.points)
    sweep = Sweep(folder.path, sweep_fingerprint(swept), swept.sweep.design, points)
    if dry_run:
        return replace(sweep, expected=tuple(expect_points(order, folder, reporter)))
    copied = points.points[0].config.mlflow
    if copied:  # a store that cannot be written is named before anything is paid
        check_store(folder.path.parent, tracking_uri())
    with folder.holding():
        folder.write(summary_of(sweep, status=RUNNING))
        rows = _run(swept, folder, order, reporter)
        done = replace(sweep, rows=tuple(row for point in points.points for row in rows[point.name]))
        done = replace(done, curves=tuple(_curves(done, folder)))
        picture = {PICTURE: curves_svg(done.curves)} if done.curves else {}
        folder.write(summary_of(done, status=FINISHED), {TABLE: csv_text(done.rows)} | picture)
    if copied:
        done = replace(done, mlflow=track_rows(folder, done.fingerprint, done.rows, reporter))
    return done


def asking_order(points: Sequence[SweepPoint]) -> list[SweepPoint]:
    """The points as they are asked: those with the most hits first, so that the others can be cut from them."""
    return sorted(points, key=lambda point: -point.config.retrieval.k)


def _run(
    swept: SweptConfig, folder: SweepFolder, order: Sequence[SweepPoint], reporter: Reporter
) -> dict[str, tuple[SweepRow, ...]]:
    """Point's name -> its rows."""
    rows: dict[str, tuple[SweepRow, ...]] = {}
    names = [point.name for point in order]
    with closing(PointPreparer(reporter)) as preparer:
        for number, point in enumerate(order, start=1):
            reporter.say(f"point {number} of {len(order)}: {point.label}")
            others = [name for name in names if name != point.name]
            try:
                board = run_point(point, folder, others, preparer, reporter)
            except RunInterrupted as error:
                raise RunInterrupted(
                    f"{error}\nThat is point {number} of {len(order)}, {point.label}; go on with the whole sweep: "
                    f"arena sweep {shlex.quote(str(swept.path))}"
                ) from error
            rows[point.name] = tuple(rows_of(point, board, folder.store(point.name)))
    return rows


def _curves(sweep: Sweep, folder: SweepFolder) -> list[Curve]:
    points = sweep.points.points
    names = dict.fromkeys(point.config.dataset for point in points)
    questions = [one for name in names for one in load_dataset(name).questions]
    values = {point.name: question_values(folder.store(point.name)) for point in points}
    seed = points[0].config.seed
    return curves_of(sweep.rows, values, QuestionResamples(questions, seed), seed)


def track_rows(folder: SweepFolder, fingerprint: str, rows: Sequence[SweepRow], reporter: Reporter) -> str | None:
    """A parent run for the sweep and a child for each row; the parent's id (None: it could not be written)."""
    files = [path for name in (TABLE, PICTURE) if (path := folder.path / name).exists()]
    sweep = SweptCells(folder.path.name, fingerprint, [_cell(row) for row in rows], files)
    return copy_to_mlflow(lambda: track_sweep(sweep, folder.path.parent, tracking_uri()), "sweep", reporter)


def _cell(row: SweepRow) -> SweptCell:
    tags = {
        "source": row.source,
        "warnings": warning_codes(row.warnings),
        "arena": row.versions.get("rag-strategy-arena") or "unknown",
        "versions": versions_text(row.versions)[:5_000],  # MLflow bounds what a tag holds
        "fingerprint": row.run_fingerprint,
        **({"mlflow.source.git.commit": row.commit} if row.commit else {}),
    }
    return SweptCell(row.point.name, row.cell, row.point.values, row.date, not row.cut, tags)
