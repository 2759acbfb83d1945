"""A sweep on the terminal (its points, its elbows, how to read them), as one JSON object, and as sweep.json."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from arena.report.figures import (
    UNDEFINED,
    count_text,
    metric_text,
    p_text,
    second_text,
    signed_interval_text,
    signed_text,
    tokens_text,
    usd_text,
)
from arena.report.text import Part, Rows, print_parts
from arena.store import FINISHED
from arena.types import sum_known
from experiments.execution.start import too_many_failed
from experiments.studies.folder import PICTURE, TABLE
from experiments.studies.sweep.config import Points, short_values
from experiments.studies.sweep.curves import MARGIN, MEASURED, BesideBest, Curve, SweepRow, csv_fields
from experiments.studies.sweep.run import ASKED, ExpectedPoint
from experiments.terminal.tables import Console, as_json

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep. Of a dry run `expected` is set, in the order of asking, and there are neither rows nor curves.

    `rows`: by point, then cell, in the order of the config. `mlflow`: id of the parent run (None: not written).
    """

    folder: Path
    fingerprint: str
    design: str
    points: Points
    rows: tuple[SweepRow, ...] = ()
    curves: tuple[Curve, ...] = ()
    expected: tuple[ExpectedPoint, ...] | None = None
    mlflow: str | None = None

    @property
    def too_many_failures(self) -> bool:
        """Whether at any point more questions failed than its `max_failure_share`."""
        return any(
            too_many_failed(
                [row.cell for row in self.rows if row.point.name == point.name], point.config.max_failure_share
            )
            for point in self.points.points
        )


def summary_of(sweep: Sweep, status: str) -> dict[str, Any]:
    """sweep.json: plain JSON values, figures as they are."""
    fingerprints = {row.point.name: row.run_fingerprint for row in sweep.rows}
    return {
        "schema_version": SCHEMA_VERSION,
        "sweep_id": sweep.folder.name,
        "status": status,
        "fingerprint": sweep.fingerprint,
        "design": sweep.design,
        "points": [
            {
                "name": point.name,
                "label": point.label,
                "values": dict(point.values),
                "fingerprint": fingerprints.get(point.name),
            }
            for point in sweep.points.points
        ],
        "skipped": list(sweep.points.skipped),
        "rows": [csv_fields(row) for row in sweep.rows],
        "curves": [asdict(curve) for curve in sweep.curves],
    }


def expected_fields(sweep: Sweep) -> dict[str, Any]:
    """A dry run as plain JSON values; None = unknown."""
    return {
        "sweep_id": sweep.folder.name,
        "design": sweep.design,
        "skipped": list(sweep.points.skipped),
        "points": [
            {
                "name": one.point.name,
                "label": one.point.label,
                "status": one.status,
                "usd": one.usd,
                "judging_usd": one.judging_usd,
                "cells": [asdict(cell) for cell in one.cells],
            }
            for one in sweep.expected or ()
        ],
    }


_COLUMNS = {
    "recall": "retrieval_recall",
    "precision": "retrieval_precision",
    "full recall": "full_recall",
    "MRR": "mrr",
    "F1": "answer_f1",
}
_MANY_ROWS, _BEST_ROWS = 30, 5
_NAMES = {metric: heading for heading, metric in _COLUMNS.items()}


def print_sweep(sweep: Sweep, console: Console, *, json: bool) -> None:
    """Print a sweep, or what it would take; `json`: as one JSON object."""
    if json:
        fields = summary_of(sweep, FINISHED) | {"mlflow_run_id": sweep.mlflow}
        console.file.write(as_json(fields if sweep.expected is None else expected_fields(sweep)) + "\n")
        return
    parts = _parts(sweep) if sweep.expected is None else _expected_parts(sweep.expected)
    print_parts(list(parts), console)


def _parts(sweep: Sweep) -> Iterator[Part]:
    yield _row_table(sweep)
    if (left := len(sweep.rows) - len(_shown_rows(sweep))) > 0:
        yield f"Of each cell the {_BEST_ROWS} best points; the other {left:,} rows are in {TABLE}."
    yield "Scores: mean and 95 % interval. recall and precision are of the k passages that were shown."
    if any(row.cut for row in sweep.rows):
        yield (
            "cut from: the hits are the first of a retrieval of more hits at another point, which asks the engine the "
            "very same; their latency was not measured."
        )
    yield from _warnings(sweep)
    shown = kept = [curve for curve in sweep.curves if curve.metric in _NAMES]
    if len(shown) > _MANY_ROWS:
        kept = [curve for curve in shown if curve.metric == _ranked(sweep)][:_MANY_ROWS]
    if shown:
        yield _curve_table(kept)
    if len(kept) < len(shown):
        ranked = _NAMES[_ranked(sweep)]
        yield f"{len(kept):,} of {len(shown):,} curves, those of {ranked}; all are in sweep.json."
    if shown:
        yield from _reading()
    picture = f"{PICTURE}, " if sweep.curves else ""
    yield f"sweep folder   {sweep.folder}  ({TABLE}, {picture}a run folder a point)"
    if sweep.mlflow:
        yield f"MLflow         run {sweep.mlflow}"


def _warnings(sweep: Sweep) -> Iterator[str]:
    """Each validity warning once, with the rows that it concerns where these are not all."""
    found: dict[str, int] = {}
    for row in sweep.rows:
        for one in dict.fromkeys(warning.message for warning in row.warnings):
            found[one] = found.get(one, 0) + 1
    for message, count in found.items():
        where = "" if count == len(sweep.rows) else f" ({count} of {len(sweep.rows)} rows)"
        yield f"{message[0].upper()}{message[1:]}{where}."


def _row_table(sweep: Sweep) -> Rows:
    factors = list(sweep.points.points[0].values)
    short = short_values(sweep.points.points)
    metrics = {name: metric for name, metric in _COLUMNS.items() if any(_has(row, metric) for row in sweep.rows)}
    rows = [
        (
            *(_value(short[factor].get(row.point.values[factor], row.point.values[factor])) for factor in factors),
            row.cell.strategy,
            row.cell.retrieval_mode,
            *(metric_text(row.metric(metric)) for metric in metrics.values()),
            tokens_text(row.cell),
            usd_text(row.cell.cost_usd_per_question),
            second_text(None if row.cut else row.cell.latency_seconds.p50),
            "" if row.source == MEASURED else row.source,
        )
        for row in _shown_rows(sweep)
    ]
    headings = (*factors, "strategy", "mode", *metrics, "tokens", "USD", "p50 s", "from")
    return Rows(headings, tuple(rows), len(factors) + 2)


def _ranked(sweep: Sweep) -> str:
    """By what points are told better from worse: answers, else evidence."""
    return "answer_f1" if any(_has(row, "answer_f1") for row in sweep.rows) else "retrieval_recall"


def _shown_rows(sweep: Sweep) -> list[SweepRow]:
    """All rows, or, of many, the best of each cell, the best first."""
    if len(sweep.rows) <= _MANY_ROWS:
        return list(sweep.rows)
    metric = _ranked(sweep)
    cells: dict[tuple[object, ...], list[SweepRow]] = {}
    for row in sweep.rows:
        cells.setdefault((row.cell.strategy, row.cell.retrieval_mode, row.place), []).append(row)
    return [row for rows in cells.values() for row in sorted(rows, key=lambda row: -_mean(row, metric))[:_BEST_ROWS]]


def _mean(row: SweepRow, metric: str) -> float:
    summary = row.metric(metric)
    return -1.0 if summary is None or summary.mean is None else summary.mean


def _has(row: SweepRow, metric: str) -> bool:
    summary = row.metric(metric)
    return summary is not None and summary.coverage is not None


def _curve_table(curves: list[Curve]) -> Rows:
    rows = [
        (
            curve.factor,
            curve.name,
            _NAMES[curve.metric],
            _value(curve.elbow),
            *_beside_texts(curve.not_shown_worse),
            UNDEFINED if curve.enough is None else _value(curve.enough.value),
        )
        for curve in curves
    ]
    headings = ("factor", "cell", "metric", "elbow", "best", "not shown worse", "best less it", "95 % interval", "p",
                "enough")  # fmt: skip
    return Rows(headings, tuple(rows), 3)


def _reading() -> Iterator[str]:
    yield (
        "elbow: a rule of thumb (Satopaa et al. 2011): the point furthest from the chord of the curve, both axes "
        f"scaled to [0, 1]. It knows nothing of chance and moves with the range that was swept. {UNDEFINED} = no elbow."
    )
    yield (
        "not shown worse: the smallest value that is not significantly worse than the best one, on the same questions "
        "(paired permutation test, Holm over all pairs of the curve). It may well be worse: the interval says how far "
        "the best may be ahead of it."
    )
    yield (
        f"enough: the smallest value of which the whole interval says that it loses no more than {MARGIN:g} to the "
        "best; where none is shown to, the best itself."
    )


def _beside_texts(one: BesideBest | None) -> tuple[str, ...]:
    if one is None:
        return (UNDEFINED,) * 5
    figures = signed_text(one.difference), signed_interval_text(one.low, one.high), p_text(one.p)
    return _value(one.best), _value(one.value), *figures


def _expected_parts(expected: tuple[ExpectedPoint, ...]) -> Iterator[Part]:
    rows = [
        (
            one.point.label,
            cell.name,
            f"{cell.n_questions:,}",
            cell.source,
            count_text(cell.calls),
            count_text(cell.tokens),
            usd_text(cell.usd),
        )
        for one in expected
        for cell in one.cells
    ]
    if len(rows) > _MANY_ROWS:
        yield _expected_points(expected)
    else:
        yield Rows(("point", "cell", "questions", "source", "calls", "tokens", "USD"), tuple(rows), 4)
    begun = [one.point.label for one in expected if one.status not in ("new", FINISHED)]
    if begun:
        yield f"Begun, and shown as if nothing of it were done: {', '.join(begun)}."
    judging = [one.judging_usd for one in expected]
    if any(usd is None or usd > 0 for usd in judging):
        yield f"Judging, USD: {usd_text(sum_known(judging))}."
    usd = usd_text(sum_known(one.usd for one in expected))
    yield f"All points, USD: {usd}. Nothing was spent, and no folder was made."


def _expected_points(expected: tuple[ExpectedPoint, ...]) -> Rows:
    """A row for each point, over its cells; `asked`: cells that no other point has."""
    rows = tuple(
        (
            one.point.label,
            f"{len(one.cells):,}",
            f"{sum(cell.source == ASKED for cell in one.cells):,}",
            count_text(sum_known(cell.calls for cell in one.cells)),
            count_text(sum_known(cell.tokens for cell in one.cells)),
            usd_text(one.usd),
        )
        for one in expected
    )
    return Rows(("point", "cells", "asked", "calls", "tokens", "USD"), rows, 1)


def _value(value: object) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:g}" if isinstance(value, float) else str(value)
