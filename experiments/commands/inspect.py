"""`arena inspect`: everything that happened to one question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from experiments.cli_groups import MovedData


def inspect(
    run_folder: Annotated[Path, typer.Argument(help="A run, as in runs/RUN_ID.")],
    question_id: Annotated[str, typer.Argument(help="A question of the run.")],
    cell: Annotated[list[str] | None, typer.Option(help="A cell to show; default: all. Repeatable.")] = None,
    dataset: MovedData = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show one question: what was retrieved, each decision, the answers, scores and verdicts, tokens and seconds."""
    from experiments.terminal.tables import Console
    from experiments.views.inspect import inspect_question, print_question

    print_question(inspect_question(run_folder, question_id, cell or (), dataset), Console(), json=json)
