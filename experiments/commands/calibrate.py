"""`arena calibrate`: thresholds from the dev part of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData


def calibrate(
    run_folder: Annotated[Path, typer.Argument(help="A finished run on the dev part, as in runs/RUN_ID.")],
    target: Annotated[
        str | None, typer.Option(help="rerank, corrective, self_rag or router; default: all the run can tell of.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Config to write; default: calibrated.yaml in the folder.")] = None,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Choose thresholds by what they cost and bring on dev questions, and write them as a config for the next run."""
    from experiments.studies.calibrate.calibrate import calibrate_run
    from experiments.studies.calibrate.output import print_calibration
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    found = calibrate_run(run_folder, target, out, Reporter(Console(stderr=True), quiet=json), dataset)
    print_calibration(found, Console(), json=json)
