"""`arena report`: one run as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData
from experiments.terminal.tables import put


def report(
    run_folder: Annotated[Path, typer.Argument(help="A run, as in runs/RUN_ID; it need not be finished.")],
    out: Annotated[Path | None, typer.Option(help="File to write; default: report.html in the run folder.")] = None,
    dataset: MovedData = None,
) -> None:
    """Write a run's report: one HTML file that needs no network. Asks no model.

    arena report runs/RUN_ID
    arena report runs/RUN_ID --out corrective_vs_vanilla.html
    """
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console
    from experiments.views.report import write_report

    put(write_report(run_folder, out, Reporter(Console(stderr=True)), data_at=dataset))
