"""`arena sweep`: one run a point, over values of settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def sweep(
    config: Annotated[Path, typer.Argument(help="YAML file: a run's settings and a `sweep` section.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the points and what they cost; run nothing.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a config at several values of its settings, one at a time or all combinations. A stopped sweep goes on.

        arena sweep experiments/configs/sweep_k.yaml --dry-run
        arena sweep experiments/configs/sweep_k.yaml

    Exit code 3: at some point more questions failed than its `max_failure_share`.
    """
    from experiments.commands.run import TOO_MANY_FAILURES
    from experiments.studies.sweep.sweep import print_sweep, run_sweep
    from experiments.terminal.progress import Reporter
    from experiments.terminal.tables import Console

    swept = run_sweep(config, Reporter(Console(stderr=True), quiet=json), dry_run=dry_run)
    print_sweep(swept, Console(), json=json)
    if swept.too_many_failures:
        raise typer.Exit(TOO_MANY_FAILURES)
