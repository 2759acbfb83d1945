"""`arena verify`: a run folder against everything it rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData
from experiments.terminal.tables import put


def verify(
    run_folder: Annotated[Path, typer.Argument(help="A run, as in runs/RUN_ID.")],
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Derive everything that a run wrote down again, and say what differs. Asks no model and writes nothing.

    Ends with 1 if anything differs, and with 2 if the folder cannot be checked at all.
    """
    from experiments.terminal.tables import Console, as_json, print_table
    from experiments.views.verify import checks_fields, checks_table, is_verified, verdict_text, verify_run

    checks = verify_run(run_folder, dataset)
    if json:
        put(as_json(checks_fields(run_folder.resolve().name, checks)))
    else:
        print_table(checks_table(checks), [verdict_text(run_folder, checks)], Console())
    if not is_verified(checks):
        raise typer.Exit(1)
