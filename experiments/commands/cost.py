"""`arena cost`: parse, call, print; no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.terminal.tables import put


def cost(
    run_folder: Annotated[Path, typer.Argument(help="A run, finished or not, as in runs/RUN_ID.")],
    config: Annotated[Path | None, typer.Option(help="YAML file whose `prices` go over the run's.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Print what a run used and cost, by cell and role, and what judging took beside it.

    Asks no model, so a run can be priced anew at any time.
    """
    from experiments.terminal.tables import Console, as_json, print_table
    from experiments.views.cost import cost_fields, cost_notes, cost_of, cost_table

    found = cost_of(run_folder, config)
    if json:
        put(as_json(cost_fields(found)))
    else:
        print_table(cost_table(found), cost_notes(found), Console())
