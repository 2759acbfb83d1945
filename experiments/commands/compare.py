"""`arena compare`: several runs as one leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData


def compare(
    run_folders: Annotated[list[Path], typer.Argument(help="Two runs or more, as in runs/RUN_ID.")],
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show several runs as one leaderboard, and in which settings they differ. Asks no model and writes nothing.

    The runs must be on the same data. They are compared on the questions that all of them asked.

        arena compare runs/before runs/after
        arena compare runs/before runs/after --json
    """
    from experiments.studies.compare.compare import compare_runs
    from experiments.studies.compare.table import print_compared
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    compared = compare_runs(run_folders, Reporter(Console(stderr=True), quiet=json), dataset)
    print_compared(compared, Console(), json=json)
