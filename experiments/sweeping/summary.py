"""A sweep and what came of it; sweep.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from experiments.sweeping.curve import Curve
from experiments.sweeping.dry import ExpectedPoint
from experiments.sweeping.point import Points
from experiments.sweeping.row import SweepRow, csv_fields

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
        for point in self.points.points:
            cells = [row.cell for row in self.rows if row.point.name == point.name]
            if sum(one.n_failed for one in cells) > point.config.max_failure_share * sum(
                one.n_questions for one in cells
            ):
                return True
        return False


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
        "curves": [curve_fields(curve) for curve in sweep.curves],
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


def curve_fields(curve: Curve) -> Mapping[str, Any]:
    """A curve as plain JSON values."""
    return asdict(curve) | {"others": dict(curve.others), "points": [asdict(one) for one in curve.points]}
